// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.lib.PortNotes
import spinal.core.Component

/** The notes of a top's ports, as comments in its Verilog and as rows of a table. */
object PortFiles {
  private val columns = 110

  /** The Verilog with each note before its ports. */
  def comment(verilog: String, top: Component): String = {
    val notes = PortNotes.groups(top).map(group => group.ports.head.getName() -> group.note.text).toMap
    val head = s"module ${top.definitionName} ("
    val start = verilog.indexOf(s"\n$head")
    val end = verilog.indexOf("\n);", start)
    val lines = verilog.substring(start, end).split("\n", -1).flatMap { line =>
      val name = line.trim.stripSuffix(",").split("\\s+").last
      notes.get(name).toSeq.flatMap(wrapped(_).map(part => s"  // $part")) :+ line
    }
    verilog.substring(0, start) + lines.mkString("\n") + verilog.substring(end)
  }

  /** A row of a table for each interface or port; none if the top has no notes. */
  def rows(top: Component): Seq[String] = PortNotes.groups(top).map(group =>
    s"| `${group.name}${if (group.ports.size > 1) "*" else ""}` | ${group.direction} ${group.bits} | " +
      s"${group.note.text} |")

  private def wrapped(text: String): Seq[String] = text.split(" ").foldLeft(Vector("")) {
    case (done :+ "", word) => done :+ word
    case (done :+ line, word) if line.length + 1 + word.length <= columns => done :+ s"$line $word"
    case (done, word) => done :+ word
  }
}
