// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

/** Text of a generated C header. */
object CHeader {
  val tag = "SPDX-License-Identifier: BSD-2-Clause-Patent"
  /** The origin of a committed file. */
  val generated = "Generated from the RTL by `make generate`; do not edit."

  /** A header with its include guard; `made` says by what it was made. */
  def apply(guard: String, body: Seq[String], made: String = generated): String =
    text(Seq(s"/* $tag */", s"/* $made */", s"#ifndef $guard", s"#define $guard", "") ++ body ++ Seq("", "#endif"))

  def text(lines: Seq[String]): String = lines.mkString("", "\n", "\n")

  def define(name: String, value: BigInt): String = s"#define $name $value"
  /** `enum downbeat_tcp_state` with `DOWNBEAT_TCP_STATE_...`; `number` maps an element's place to its value. */
  def enumeration(name: String, elements: Seq[String], number: Int => Int = identity): Seq[String] = {
    val prefix = macroName(name)
    val lines = elements.zipWithIndex.map { case (element, place) =>
      s"  ${prefix}_${upper(element)} = ${number(place)},"
    }
    s"\nenum ${prefix.toLowerCase} {" +: lines :+ "};"
  }

  def macroName(name: String): String = s"DOWNBEAT_${upper(name)}"
  /** camelCase to UPPER_CASE: synSent is SYN_SENT. */
  def upper(name: String): String = name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('-', '_').toUpperCase
}
