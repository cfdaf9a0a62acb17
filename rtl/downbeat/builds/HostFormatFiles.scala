// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.builds.CHeader.{generated, macroName, upper}
import downbeat.config.DownbeatConfig
import downbeat.congestion.Policy
import downbeat.host.HostFormat
import downbeat.host.HostFormatHash.{formatHash, policyHash, sizes, tables}

/** The host interface's format as text, a C header and JSON, and the policies as a C header: the same for every
  * build.
  */
object HostFormatFiles {
  /** `DOWNBEAT_HOST_COMMAND_OPCODE_OFFSET`, `_BITS`; `DOWNBEAT_HOST_COMMAND_FIELDS(each)`, of entries, for checks of a
    * structure; `enum downbeat_host_opcode`.
    */
  def header: String = {
    val numbers = (sizes :+ ("formatHash" -> formatHash)).map { case (name, value) =>
      s"#define ${macroName("host")}_${upper(name)} ${value}u"
    }
    val fields = tables.flatMap { case (table, says, fields) =>
      val prefix = s"${macroName("host")}_${upper(table)}"
      val lines = fields.flatMap { field =>
        val access = if (field.access.isEmpty) "" else s"${field.access}: "
        val name = s"${prefix}_${upper(field.name)}"
        Seq(s"/* $access${field.says} */", s"#define ${name}_OFFSET ${field.offset}u",
          s"#define ${name}_BITS ${field.bits}u")
      }
      s"\n/* $says */" +: lines
    }
    val entries = Seq("command" -> HostFormat.command, "notification" -> HostFormat.notification,
      "pathReport" -> HostFormat.pathReport, "stamp" -> HostFormat.stamp)
    val lists = entries.flatMap {
      case (table, fields) =>
        val rows = fields.map(field => s"  each(${field.name}, ${field.offset}u, ${field.bits}u)")
        Seq(s"\n#define ${macroName("host")}_${upper(table)}_FIELDS(each) \\", rows.mkString(" \\\n"))
    }
    val enums = HostFormat.enums.flatMap(values => CHeader.enumeration(values.name, values.elements)) ++
      HostFormat.bitSets.flatMap(values => CHeader.enumeration(values.name, values.elements, 1 << _))
    CHeader("DOWNBEAT_HOST_H", numbers ++ fields ++ lists ++ enums)
  }

  /** All policies by number, whichever of them the build has, what its core says of them, and where the numbers of
    * their arguments lie: `DOWNBEAT_STARTUP_POLICIES`, `DOWNBEAT_STARTUP_ARGUMENTS`.
    */
  def policies(config: DownbeatConfig): String = {
    def list(family: String, policies: Seq[Policy]): Seq[String] = {
      val rows = policies.map(policy => s"""  each("${policy.name}")""")
      val arguments = policies.flatMap(policy =>
        policy.arguments.fields.map { field =>
          val numbers = Seq(policy.arguments.offset(field.name), field.bits, field.fraction).map(value => s"${value}u")
          s"""  each("${policy.name}", "${field.name}", ${numbers.mkString(", ")})"""
        })
      Seq(s"#define DOWNBEAT_${family}_POLICIES(each) \\", rows.mkString(" \\\n"), "",
        "/* Policy, name, first bit, bits, fraction bits among them. */",
        s"#define DOWNBEAT_${family}_ARGUMENTS(each) \\", arguments.mkString(" \\\n"))
    }
    CHeader("DOWNBEAT_POLICIES_H",
      Seq(
        "/* CRC-32 of the policies' names, numbers and arguments, as the core has it of its own. */",
        s"#define DOWNBEAT_POLICY_HASH ${policyHash(config)}u", "") ++ list("STARTUP", config.startup.all) ++
        Seq("") ++ list("STEADY", config.steady.all))
  }

  /** {{{ {"numbers": {...}, "tables": {"command": {"opcode": {"offset": 0, "bits": 8, "used": 8, "access": ""}}},
    * "enums": {"HostOpcode": {"open": 1}}} }}}
    */
  def json: String = {
    val numbers = (sizes :+ ("formatHash" -> formatHash)).map { case (name, value) => s""""$name": $value""" }
    val parts = tables.map { case (table, _, fields) =>
      val rows = fields.map { field =>
        s"""      "${field.name}": {"offset": ${field.offset}, "bits": ${field.bits}, "used": ${field.usedBits}, """ +
          s""""access": "${field.access}"}"""
      }
      s"""    "$table": {\n${rows.mkString(",\n")}\n    }"""
    }
    val enums = HostFormat.enums.map { values =>
      val elements = values.elements.zipWithIndex.map { case (name, value) => s""""$name": $value""" }
      s"""    "${values.name}": {${elements.mkString(", ")}}"""
    }
    s"""{
       |  "generated": "$generated",
       |  "numbers": {${numbers.mkString(", ")}},
       |  "tables": {
       |${parts.mkString(",\n")}
       |  },
       |  "enums": {
       |${enums.mkString(",\n")}
       |  }
       |}
       |""".stripMargin
  }
}
