// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Four movers on one AXI4 port: two that read, two that write, each pair round robin by bursts. Reads and writes do not
  * meet, so that both channels move a beat a clock at the same time. Everything is registered at the joint.
  */
case class MemoryArbiter(config: DownbeatConfig) extends Component {
  private val port = MemoryPort.config(config)
  val io = new Bundle {
    /** For the transmitter, and for the application. */
    val fetch, deliver = slave(Axi4ReadOnly(port))
    /** From the receiver, and from the application. */
    val place, accept = slave(Axi4WriteOnly(port))
    val memory = master(Axi4(config.memory))
    /** No burst waits for its last beat or its response. */
    val idle = out(Bool())
  }
  noIoPrefix()
  Seq(io.fetch, io.deliver).foreach(Axi4SpecRenamer(_))
  Seq(io.place, io.accept).foreach(Axi4SpecRenamer(_))
  Axi4SpecRenamer(io.memory)

  private val reads = Axi4ReadOnlyArbiter(config.memory, inputsCount = 2)
  reads.io.inputs(0) << io.fetch
  reads.io.inputs(1) << io.deliver
  reads.io.output.pipelined(ar = StreamPipe.FULL, r = StreamPipe.FULL) >> io.memory

  private val writes = Axi4WriteOnlyArbiter(config.memory, inputsCount = 2, routeBufferSize = 8, routeBufferM2sPipe = true)
  writes.io.inputs(0) << io.place
  writes.io.inputs(1) << io.accept
  writes.io.output.pipelined(aw = StreamPipe.FULL, w = StreamPipe.FULL, b = StreamPipe.FULL) >> io.memory

  private def outstanding(begins: Bool, ends: Bool): UInt = {
    val bursts = Reg(UInt(8 bits)) init 0
    when(begins =/= ends)(bursts := begins ? (bursts + 1) | (bursts - 1))
    bursts
  }
  private val readBursts = outstanding(reads.io.output.ar.fire, reads.io.output.r.fire && reads.io.output.r.last)
  private val writeBursts = outstanding(writes.io.output.aw.fire, writes.io.output.b.fire)
  io.idle := readBursts === 0 && writeBursts === 0
}
