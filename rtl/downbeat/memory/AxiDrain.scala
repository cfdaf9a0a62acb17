// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.lib.PortNotes
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4Config, Axi4SpecRenamer}

/** Between an AXI4 master and what it reads and writes: while `drains` holds, no burst begins, and `drained` says that
  * all that had begun have their responses. Then the master may be reset (AXI4 A3.1.2 knows no reset of one side).
  *
  * An address that was offered stays until it is taken, and so does a beat of data.
  */
case class AxiDrain(axi: Axi4Config) extends Component {
  val io = new Bundle {
    val inner = slave(Axi4(axi))
    val outer = master(Axi4(axi))
    val drains = in(Bool())
    val drained = out(Bool())
  }
  noIoPrefix()

  io.outer << io.inner

  /** No more of the channel's transfers begin: none is offered and not taken, nor in the way of `last`. */
  private def block(mine: Stream[_ <: Data], theirs: Stream[_ <: Data], pending: Bool): Bool = {
    val blocked = RegInit(False)
    blocked := io.drains && (blocked || !pending && (!theirs.valid || theirs.ready))
    theirs.valid.removeAssignments() := mine.valid && !blocked
    mine.ready.removeAssignments() := theirs.ready && !blocked
    blocked
  }
  private def count(begins: Bool, ends: Bool): UInt = {
    val count = Reg(UInt(AxiDrain.countBits bits)) init 0
    count := count + begins.asUInt - ends.asUInt
    count
  }

  private val reads = count(io.outer.ar.fire, io.outer.r.fire && io.outer.r.last)
  private val writes = count(io.outer.aw.fire, io.outer.b.fire)
  /** Bursts of data that are to come; less than none where data was faster than its address. */
  private val data = count(io.outer.aw.fire, io.outer.w.fire && io.outer.w.last)
  private val readsBlocked = block(io.inner.ar, io.outer.ar, False)
  private val writesBlocked = block(io.inner.aw, io.outer.aw, io.outer.w.valid && data === 0)
  private val dataBlocked = writesBlocked && data === 0
  io.outer.w.valid.removeAssignments() := io.inner.w.valid && !dataBlocked
  io.inner.w.ready.removeAssignments() := io.outer.w.ready && !dataBlocked
  io.drained := RegNext(readsBlocked && writesBlocked && reads === 0 && writes === 0) init False
}

object AxiDrain {
  /** More bursts are never outstanding. */
  private val countBits = 8

  /** Outside a core: its port of the same name, with the same notes, and whether it is drained. */
  def apply(port: Axi4, drains: Bool): (Axi4, Bool) = {
    val drain = AxiDrain(port.config)
    drain.io.drains := drains
    drain.io.inner << port
    drain.io.outer.setName(port.getName())
    Axi4SpecRenamer(drain.io.outer)
    for ((from, to) <- port.flatten.zip(drain.io.outer.flatten)) PortNotes.copy(from, to)
    (drain.io.outer, drain.io.drained)
  }
}
