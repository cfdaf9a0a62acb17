// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._

/** The purpose of a port: units, layout of TUSER, obligations. `val now = in(UInt(64 bits)).note("ns ...")`.
  *
  * Notes are the only source of the comments in the Verilog and of docs/reference/ports.md. A bundle's note is that of
  * all its signals together.
  */
object PortNotes {
  implicit class Noted[T <: Data](port: T) {
    def note(text: String): T = {
      val note = new PortNote(text)
      port.flatten.foreach(_.addTag(note))
      port
    }
  }

  /** Ports that stand for others take their notes. */
  def copy(from: BaseType, to: BaseType): Unit = of(from).foreach(to.addTag(_))

  /** SpinalHDL makes these ports, so no declaration can carry their notes. */
  private val implied = Map(
    "clk" -> new PortNote("Of all ports, unless a port says otherwise."),
    "reset" -> new PortNote(
      "Synchronous to `clk`, active high. The core sweeps its memories behind it, a flow a clock."))

  /** Ports of one note, in the order of the Verilog, without ports that have none; empty if the top has no notes. */
  def groups(top: Component): Seq[PortGroup] = {
    val ports = top.getOrdredNodeIo
    def noted(port: BaseType) = of(port).orElse(implied.get(port.getName())).map(_ -> port)
    if (ports.forall(of(_).isEmpty)) Nil
    else ports.flatMap(noted(_)).foldLeft(Vector[PortGroup]()) {
      case (before :+ last, (note, port)) if last.note eq note => before :+ last.copy(ports = last.ports :+ port)
      case (before, (note, port)) => before :+ PortGroup(note, Vector(port))
    }
  }

  private def of(port: BaseType): Option[PortNote] = port.getTag(classOf[PortNote])
}

class PortNote(val text: String) extends SpinalTag {
  override def canSymplifyHost: Boolean = true
}

/** An interface, or a single port. */
case class PortGroup(note: PortNote, ports: Vector[BaseType]) {
  /** The common part of the names, up to an underscore; for a single port its name. */
  val name: String = {
    val names = ports.map(_.getName())
    val common = names.reduce((one, other) => one.zip(other).takeWhile { case (a, b) => a == b }.map(_._1).mkString)
    if (ports.size == 1) common else common.take(common.lastIndexOf('_') + 1)
  }

  /** `in` or `out`; of a stream what the core is there. */
  val direction: String = ports.find(_.getName().matches(".*_(t|aw)?valid")) match {
    case Some(valid) if ports.size > 1 => if (valid.isInput) "slave" else "master"
    case _ => ports.map(port => if (port.isInput) "in" else "out").distinct.mkString(", ")
  }

  /** Bits of the port, or the signals of the interface: one bit where no number stands; of a stream without its
    * handshake.
    */
  val bits: String =
    if (ports.size == 1) s"${ports.head.getBitsWidth}"
    else if (ports.size > PortGroup.shown) s"${ports.map(_.getBitsWidth).sum} in ${ports.size} ports"
    else {
      val widths = ports.map(port => port.getName().stripPrefix(name) -> port.getBitsWidth)
      val handshake = Set("tvalid", "tready")
      val rest = widths.filterNot { case (signal, _) => handshake(signal) }.map {
        case (signal, 1) => signal
        case (signal, width) => s"$signal $width"
      }
      val open = if (handshake.intersect(widths.map(_._1).toSet) == Set("tvalid")) Seq("no tready") else Nil
      (rest ++ open).mkString(", ")
    }
}

object PortGroup {
  /** More signals are counted, not named. */
  val shown = 9
}
