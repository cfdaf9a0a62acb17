// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.registers.RegisterMap
import spinal.lib.bus.regif.{AccessType, Field, RegInst}

/** The register map in SystemRDL 2.0 (Accellera). `hw` says who gives the value: `na` is a constant of the build, `w`
  * is the core.
  */
object RegisterRdl {
  /** Accellera SystemRDL 2.0, table 3; a backslash makes a name of one. */
  private val keywords =
    """abstract accesstype addressingtype addrmap alias all bit boolean bothedge compact component
      |componentwidth constraint default encode enum external false field fullalign hw inside internal
      |level longint mem na negedge nonsticky number onreadtype onwritetype posedge property r rclr ref reg
      |regalign regfile rset ruser rw rw1 signal string struct sw this true type unsigned w w1 wclr woclr
      |woset wot wr wset wuser wzc wzs wzt""".stripMargin.split("\\s+").toSet

  private def name(text: String): String = if (keywords(text)) s"\\$text" else text

  def apply(registers: Seq[RegInst], generated: String): String = {
    val text = Seq("// SPDX-License-Identifier: BSD-2-Clause-Patent", s"// $generated", "", "addrmap downbeat {",
      s"""  name = "Downbeat ${RegisterMap.version.mkString(".")}";""",
      """  desc = "Registers of 32 bits at byte addresses, on AXI4-Lite.";""",
      "  default regwidth = 32;", "  default accesswidth = 32;") ++
      registers.flatMap(register) :+ "};"
    text.mkString("", "\n", "\n")
  }

  private def register(register: RegInst): Seq[String] = {
    val parts = RegisterFiles.fields(register)
    Seq("", "  reg {") ++ description("    ", register.getDoc()) ++ parts.flatMap(field(register, _)) :+
      s"  } ${name(register.getName())} @ ${RegisterFiles.hex(register.getAddr(), 3)};"
  }

  private def field(register: RegInst, field: Field): Seq[String] = {
    val section = field.getSection()
    val reset = if (field.getAccessType() == AccessType.RO) "" else s" = ${RegisterFiles.hex(field.getResetValue(), 1)}"
    val doc = if (RegisterFiles.isWhole(register)) Nil else description("      ", field.getDoc())
    Seq("    field {", s"      ${access(field)}") ++ doc :+
      s"    } ${name(field.getName())}[${section.max}:${section.min}]$reset;"
  }

  private def access(field: Field): String = field.getAccessType() match {
    case AccessType.RO => "sw = r; hw = w;"
    case AccessType.ROV => "sw = r; hw = na;"
    case AccessType.RW => "sw = rw; hw = r;"
    case AccessType.WO => "sw = w; hw = r;"
    case AccessType.W1P => "sw = w; hw = r; singlepulse;"
    case other => throw new IllegalArgumentException(s"${field.getName()}: no SystemRDL for $other")
  }

  private def description(indent: String, text: String): Seq[String] =
    if (text.isEmpty) Nil else Seq(s"""${indent}desc = "${text.replace("\\", "\\\\").replace("\"", "\\\"")}";""")
}
