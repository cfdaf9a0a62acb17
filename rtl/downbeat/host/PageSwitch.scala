// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.registers.RegisterMap
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** Sends accesses of page 0 to the core's registers and all others to the host's. One read and one write at a time. */
case class PageSwitch(config: DownbeatConfig) extends Component {
  private val wide = HostRegisters.bus(config)
  val io = new Bundle {
    val bus = slave(AxiLite4(wide))
    val core = master(AxiLite4(RegisterMap.bus))
    val host = master(AxiLite4(wide))
  }
  noIoPrefix()
  Seq(io.bus, io.core, io.host).foreach(AxiLite4SpecRenamer(_))

  private def isCore(address: UInt): Bool = (address >> RegisterMap.bus.addressWidth) === 0

  /** Each command goes to one of two sides, and the response comes from there. */
  private def route(command: Stream[AxiLite4Ax]): (Seq[Stream[AxiLite4Ax]], Seq[Bool], Bool => Unit) = {
    val busy = RegInit(False) setWhen command.fire
    val toCore = isCore(command.addr)
    val fromCore = RegNextWhen(toCore, command.fire)
    val sides = StreamDemux(command.haltWhen(busy), toCore.asUInt, 2)
    val waits = Seq(busy && !fromCore, busy && fromCore)
    (sides.toSeq, waits, (done: Bool) => when(done)(busy := False))
  }

  private val (reads, readWaits, endRead) = route(io.bus.ar.halfPipe())
  private val outer = Seq(io.host, io.core)
  for ((side, read) <- outer.zip(reads)) {
    side.ar.arbitrationFrom(read)
    side.ar.addr := read.addr.resized
    side.ar.prot := read.prot
  }
  io.bus.r.valid := outer.zip(readWaits).map { case (side, waits) => side.r.valid && waits }.orR
  io.bus.r.payload := readWaits(1) ? io.core.r.payload | io.host.r.payload
  for ((side, waits) <- outer.zip(readWaits)) side.r.ready := waits && io.bus.r.ready
  endRead(io.bus.r.fire)

  private val (writes, writeWaits, endWrite) = route(io.bus.aw.halfPipe())
  for ((side, write) <- outer.zip(writes)) {
    side.aw.arbitrationFrom(write)
    side.aw.addr := write.addr.resized
    side.aw.prot := write.prot
  }
  // Data may come before its address, which then says where it goes.
  private val dataOpen = RegInit(False) setWhen writes.map(_.fire).orR
  private val data = io.bus.w.haltWhen(!dataOpen)
  when(data.fire)(dataOpen := False)
  for ((side, waits) <- outer.zip(writeWaits)) {
    side.w.valid := data.valid && waits
    side.w.payload := io.bus.w.payload
  }
  data.ready := outer.zip(writeWaits).map { case (side, waits) => side.w.ready && waits }.orR
  io.bus.b.valid := outer.zip(writeWaits).map { case (side, waits) => side.b.valid && waits }.orR
  io.bus.b.payload := writeWaits(1) ? io.core.b.payload | io.host.b.payload
  for ((side, waits) <- outer.zip(writeWaits)) side.b.ready := waits && io.bus.b.ready
  endWrite(io.bus.b.fire)
}
