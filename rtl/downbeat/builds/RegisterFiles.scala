// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.builds.CHeader.{generated, upper}
import downbeat.registers.RegisterMap
import spinal.lib.bus.regif.{AccessType, Field, RegInst}

/** The register map as text: a C header, SystemRDL and JSON, without anything that a second run would write
  * differently. The documentation site makes its page of the SystemRDL.
  *
  * Not RegIf's own writers: its header has bit-field unions, whose order C leaves open, and no names for constants; its
  * JSON has a date.
  */
object RegisterFiles {
  /** File names and contents. The registers of a board, which docs/how-to/boards.md describes, get JSON alone. */
  def of(name: String, registers: Seq[RegInst]): Seq[(String, String)] =
    if (name != "downbeat") Seq(s"${name}_registers.json" -> json(registers))
    else Seq(
      "downbeat_registers.h" -> header(registers),
      "downbeat_registers.rdl" -> RegisterRdl(registers, generated),
      "downbeat_registers.json" -> json(registers))

  /** Fields that mean something, the lowest first. */
  private[builds] def fields(register: RegInst): Seq[Field] =
    register.getFields().filterNot(_.getAccessType() == AccessType.NA)
  private[builds] def isWhole(register: RegInst): Boolean = fields(register).map(_.getName()) == Seq("value")
  private def access(field: Field): String =
    if (field.getAccessType() == AccessType.ROV) "RO" else field.getAccessType().toString
  private[builds] def hex(number: BigInt, digits: Int): String =
    "0x" + number.toString(16).reverse.padTo(digits, '0').reverse

  /** `DOWNBEAT_REG_CONTROL`, and for a field `DOWNBEAT_REG_CONTROL_ENABLE_SHIFT` and `_MASK`. */
  private def header(registers: Seq[RegInst]): String = {
    val lines = registers.flatMap { register =>
      val name = s"DOWNBEAT_REG_${upper(register.getName())}"
      val parts = if (isWhole(register)) Nil
      else fields(register).flatMap { field =>
        val fieldName = s"${name}_${upper(field.getName())}"
        val mask = ((BigInt(1) << field.getWidth()) - 1) << field.getSection().min
        Seq(s"#define ${fieldName}_SHIFT ${field.getSection().min}", s"#define ${fieldName}_MASK ${hex(mask, 8)}u")
      }
      s"#define $name ${hex(register.getAddr(), 3)}u" +: parts
    }
    CHeader("DOWNBEAT_REGISTERS_H",
      Seq(
        "/* Byte offsets of 32-bit registers; shift and mask of their fields. */",
        s"#define DOWNBEAT_REGISTER_BYTES ${RegisterMap.bytes}u",
        s"#define DOWNBEAT_MAGIC ${hex(RegisterMap.magic, 8)}u", "") ++ lines)
  }

  /** {{{ {"registers": {"control": {"offset": 128, "fields": {"enable": {"offset": 0, "width": 1, "access": "RW",
    * "reset": 0}}}}} }}}
    */
  private def json(registers: Seq[RegInst]): String = {
    val entries = registers.map { register =>
      val parts = fields(register).map { field =>
        s""""${field.getName()}": {"offset": ${field.getSection().min}, "width": ${field.getWidth()}, """ +
          s""""access": "${access(field)}", "reset": ${field.getResetValue()}}"""
      }
      s"""    "${register.getName()}": {"offset": ${register.getAddr()}, "fields": {${parts.mkString(", ")}}}"""
    }
    s"""{
       |  "generated": "$generated",
       |  "bytes": ${RegisterMap.bytes},
       |  "registers": {
       |${entries.mkString(",\n")}
       |  }
       |}
       |""".stripMargin
  }
}
