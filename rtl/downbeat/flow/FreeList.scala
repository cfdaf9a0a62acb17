// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.ProtectedQueue
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** The free flows, each with the generation of its next connection. It is a queue: the flow that has been free for
  * longest goes first, so that late events of its last connection have had the most time to pass.
  *
  * After reset it fills itself, one flow a clock, in order, all with generation 1.
  */
case class FreeList(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** A flow comes back, with the generation that it had. */
    val released = slave(Flow(FlowReference(config)))
    val next = master(Stream(FlowReference(config)))
    val count = out UInt (log2Up(config.flows + 1) bits)
    val sweeping = out Bool ()
  }
  noIoPrefix()

  private val sweep = Reg(UInt(config.flowBits + 1 bits)) init 0
  io.sweeping := !sweep.msb
  when(io.sweeping)(sweep := sweep + 1)

  private val queue = ProtectedQueue(config.ecc, FlowReference(config), config.flows)
  // A place for each flow: it takes what comes.
  queue.push.valid := io.sweeping || io.released.valid
  queue.push.flow := io.sweeping ? sweep.resize(config.flowBits) | io.released.flow
  queue.push.generation := io.sweeping ? U(1, config.generationBits bits) | io.released.generation + 1
  io.next << queue.pop
  io.count := queue.occupancy
}
