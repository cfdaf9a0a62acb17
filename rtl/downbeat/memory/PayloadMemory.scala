// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Send and receive buffers of all flows: the movers' four ports, one AXI4 port behind them, and behind that block RAM, or
  * whatever is connected to `memory`.
  */
case class PayloadMemory(config: DownbeatConfig) extends Component {
  private val port = MemoryPort.config(config)
  val io = new Bundle {
    val fetch, deliver = slave(Axi4ReadOnly(port))
    val place, accept = slave(Axi4WriteOnly(port))
    val memory = config.externalMemory generate master(Axi4(config.memory))
    /** No burst waits for its last beat or its response. */
    val idle = out(Bool())
  }
  noIoPrefix()
  Seq(io.fetch, io.deliver).foreach(Axi4SpecRenamer(_))
  Seq(io.place, io.accept).foreach(Axi4SpecRenamer(_))

  private val arbiter = MemoryArbiter(config)
  arbiter.io.fetch << io.fetch
  arbiter.io.deliver << io.deliver
  arbiter.io.place << io.place
  arbiter.io.accept << io.accept
  io.idle := arbiter.io.idle

  if (config.externalMemory) {
    Axi4SpecRenamer(io.memory)
    io.memory << arbiter.io.memory
  } else {
    val blocks = BlockMemory(config)
    blocks.io.axi << arbiter.io.memory
  }
}
