// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.application.LayoutFiles
import spinal.lib.bus.regif.{AccessType, Field, RegInst}

/** A top that comes with text about its registers: file names and contents. */
trait DescribesRegisters {
  def files: Seq[(String, String)]
}

/** The register map as text: a C header, a page and JSON, without anything that a second run would write differently.
  *
  * Not RegIf's own writers: its header has bit-field unions, whose order C leaves open, and no names for constants; its
  * JSON has a date; it has no Markdown.
  */
object RegisterFiles {
  private val generated = "Generated from the RTL by `make generate`; do not edit."

  def of(registers: Seq[RegInst]): Seq[(String, String)] = Seq(
    "downbeat_registers.h" -> header(registers),
    "downbeat_registers.md" -> page(registers),
    "downbeat_registers.json" -> json(registers))

  /** Of a board, which has its own page in docs/how-to/boards.md: for programs only. */
  def ofBoard(contents: String, registers: Seq[RegInst]): Seq[(String, String)] =
    Seq(s"${contents}_registers.json" -> json(registers))

  /** Fields that mean something, the lowest first. */
  private def fields(register: RegInst): Seq[Field] = register.getFields().filterNot(_.getAccessType() == AccessType.NA)
  private def isWhole(register: RegInst): Boolean = fields(register).map(_.getName()) == Seq("value")
  private def access(field: Field): String =
    if (field.getAccessType() == AccessType.ROV) "RO" else field.getAccessType().toString
  private def hex(number: BigInt, digits: Int): String = "0x" + number.toString(16).reverse.padTo(digits, '0').reverse

  /** `DOWNBEAT_REG_CONTROL`, and for a field `DOWNBEAT_REG_CONTROL_ENABLE_SHIFT` and `_MASK`. */
  private def header(registers: Seq[RegInst]): String = {
    val lines = registers.flatMap { register =>
      val name = s"DOWNBEAT_REG_${LayoutFiles.upper(register.getName())}"
      val parts = if (isWhole(register)) Nil
      else fields(register).flatMap { field =>
        val fieldName = s"${name}_${LayoutFiles.upper(field.getName())}"
        val mask = ((BigInt(1) << field.getWidth()) - 1) << field.getSection().min
        Seq(s"#define ${fieldName}_SHIFT ${field.getSection().min}", s"#define ${fieldName}_MASK ${hex(mask, 8)}u")
      }
      s"#define $name ${hex(register.getAddr(), 3)}u" +: parts
    }
    val text = Seq("/* SPDX-License-Identifier: BSD-2-Clause-Patent */", s"/* $generated */",
      "#ifndef DOWNBEAT_REGISTERS_H", "#define DOWNBEAT_REGISTERS_H", "",
      "/* Byte offsets of 32-bit registers; shift and mask of their fields. */",
      s"#define DOWNBEAT_REGISTER_BYTES ${RegisterMap.bytes}u",
      s"#define DOWNBEAT_MAGIC ${hex(RegisterMap.magic, 8)}u", "") ++ lines ++ Seq("", "#endif")
    text.mkString("", "\n", "\n")
  }

  private def page(registers: Seq[RegInst]): String = {
    val parts = alike(registers).foldLeft(Vector[Vector[RegInst]]()) { (parts, run) =>
      if (isLong(run) || parts.isEmpty || isLong(parts.last)) parts :+ run else parts.init :+ (parts.last ++ run)
    }
    val text = Seq(s"<!-- $generated -->", "# Register map", "",
      "Each register of the preset `default`, by its byte offset. [Registers](registers.md) explains them. RO: read-only.",
      "RW: read and write. WO: write-only. W1P: writing 1 does it once, it reads as 0. Fields reset to 0, or as stated.",
      "The names are `DOWNBEAT_REG_...` in downbeat_registers.h.") ++
      parts.flatMap(part => if (isLong(part)) list(part) else table(part))
    text.mkString("", "\n", "\n")
  }

  /** Consecutive registers that differ in name, bits and reset value only. */
  private def alike(registers: Seq[RegInst]): Seq[Vector[RegInst]] = {
    def same(one: RegInst, other: RegInst): Boolean = isWhole(one) && isWhole(other) &&
      one.getDoc() == other.getDoc() && access(fields(one).head) == access(fields(other).head)
    registers.foldLeft(Vector[Vector[RegInst]]()) { (runs, register) =>
      if (runs.nonEmpty && same(runs.last.head, register)) runs.init :+ (runs.last :+ register)
      else runs :+ Vector(register)
    }
  }

  /** A run that the page lists in short. */
  private def isLong(run: Seq[RegInst]): Boolean = alike(run).size == 1 && run.size >= 4

  private def list(run: Seq[RegInst]): Seq[String] = {
    val values = run.map(fields(_).head)
    val sameBits = values.map(bits).distinct.size == 1
    val hasReset = values.exists(_.getAccessType() == AccessType.ROV)
    val shown = (if (sameBits) s", bits ${bits(values.head)}" else "") + (if (hasReset) ", with its value" else "")
    val title = s"${access(values.head)}$shown: ${run.head.getDoc()}"
    if (sameBits && hasReset) {
      val rows = run.zip(values).map { case (register, field) =>
        s"    ${hex(register.getAddr(), 3)}  ${reset(field).padTo(9, ' ')}  ${register.getName()}"
      }
      Seq("", title, "") ++ rows
    } else if (sameBits) {
      val rows = run.grouped(3).map(row => s"    ${hex(row.head.getAddr(), 3)}  ${row.map(_.getName()).mkString("  ")}")
      Seq("", s"$title Four bytes each, in order:", "") ++ rows
    } else { // the fields of a bundle
      val reach = s"${hex(run.head.getAddr(), 3)} to ${hex(run.last.getAddr(), 3)}"
      Seq("", s"$reach, $title Names, offsets and widths are in the header.")
    }
  }

  private def table(registers: Seq[RegInst]): Seq[String] = {
    def row(offset: String, name: String, field: Field, doc: String): String = {
      val verb = if (field.getAccessType() == AccessType.ROV) "Here" else "Resets to"
      val value = if (Set("", "0x0")(reset(field))) "" else s" $verb ${reset(field)}."
      s"| $offset | $name | ${bits(field)} | ${access(field)} | ${(doc + value).trim} |"
    }
    val rows = registers.flatMap { register =>
      val (offset, name) = (hex(register.getAddr(), 3), s"`${register.getName()}`")
      if (isWhole(register)) Seq(row(offset, name, fields(register).head, register.getDoc()))
      else fields(register).zip(s"${register.getDoc()} " +: Seq.fill(31)("")).map { case (field, opening) =>
        row(offset, s"`${register.getName()}.${field.getName()}`", field, (opening + field.getDoc()).trim)
      }
    }
    Seq("", "| offset | register | bits | access | |", "|---|---|---|---|---|") ++ rows
  }

  private def bits(field: Field): String = {
    val section = field.getSection()
    if (section.min == section.max) s"${section.min}" else s"${section.max}..${section.min}"
  }

  private def reset(field: Field): String =
    if (field.getAccessType() == AccessType.RO) "" else hex(field.getResetValue(), 1)

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
