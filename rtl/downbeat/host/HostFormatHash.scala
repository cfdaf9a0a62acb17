// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Arguments, Policy, PolicySet}
import java.util.zip.CRC32

/** CRC-32 of the host interface's format and of a build's policies: a driver compares them with its own. */
object HostFormatHash {
  /** Name, description and fields of each table. */
  val tables: Seq[(String, String, Seq[HostField])] = Seq(
    ("command", "Entry of the command ring: byte offset, bits. Other bits are 0.", HostFormat.command),
    ("notification", "Entry of the notification ring: byte offset, bits.", HostFormat.notification),
    ("pathReport", "Entry of kind pathReport: what it has instead, byte offset, bits.", HostFormat.pathReport),
    ("stamp", "Entry of kind stamp: what it has instead, byte offset, bits.", HostFormat.stamp),
    ("setUp", "Set-up page: byte offset of 32-bit registers.", HostFormat.setUp),
    ("port", "Block of a port in the set-up page.", HostFormat.port),
    ("doorbell", "Doorbell page of a port.", HostFormat.doorbells))

  val sizes: Seq[(String, BigInt)] = Seq(
    "format" -> HostFormat.number,
    "commandBytes" -> HostFormat.commandBytes,
    "notificationBytes" -> HostFormat.notificationBytes,
    "largestSizeLog2" -> HostFormat.largestSizeLog2,
    "pageBytes" -> HostFormat.pageBytes,
    "setUpPage" -> HostFormat.setUpPage,
    "firstDoorbellPage" -> HostFormat.firstDoorbellPage,
    "firstPortBlock" -> HostFormat.firstPortBlock,
    "portBlockBytes" -> HostFormat.portBlockBytes)

  /** Sum of the tables, sizes and numbers, without their descriptions. */
  val formatHash: BigInt = crc {
    val fields = tables.flatMap { case (table, _, fields) =>
      fields.map(field => s"$table ${field.name} ${field.offset} ${field.bits} ${field.usedBits} ${field.access}")
    }
    val enums = (HostFormat.enums ++ HostFormat.bitSets).map(values =>
      s"${values.name} ${values.elements.mkString(" ")}")
    sizes.map { case (name, value) => s"$name $value" } ++ fields ++ enums
  }

  /** Sum of the numbers, names and arguments of the build's policies. */
  def policyHash(config: DownbeatConfig): BigInt = crc {
    def lines(family: String, set: PolicySet[Policy]) = set.present.zip(set.numbers).map { case (policy, number) =>
      s"$family $number ${policy.name} ${text(policy.arguments)}"
    }
    lines("startup", config.startup) ++ lines("steady", config.steady)
  }

  private def text(arguments: Arguments): String = {
    val fields = arguments.fields.map(field =>
      s"${field.name} ${field.bits} ${field.fraction} ${field.unit} ${field.min} ${field.max}")
    s"${arguments.needed} ${fields.mkString(", ")} ${arguments.notAbove.mkString(" ")}"
  }

  private def crc(lines: Seq[String]): BigInt = {
    val sum = new CRC32
    sum.update(lines.mkString("", "\n", "\n").getBytes("US-ASCII"))
    BigInt(sum.getValue)
  }
}
