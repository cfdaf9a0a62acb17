// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.lib.{NewestRead, WideMemory}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** The newest status or report of each flow, and a queue of the flows whose newest one has not been taken. A flow is in
  * the queue once at most, so the queue never overflows and `status` never waits.
  *
  * The flow leaves a clock before its status is read. A status that comes meanwhile is either the one that is read, or
  * puts the flow into the queue again. A status that is written in the clock of a read makes the read repeat; once is
  * enough, since those of one flow are at least eight clocks apart.
  */
case class StatusQueue[T <: Data](config: DownbeatConfig, word: HardType[T], reference: T => FlowReference)
    extends Component {
  val io = new Bundle {
    val status = slave(Flow(word()))
    /** The next flow is wanted; answered, when there is one, by `leaving` and three clocks later by `newest`. */
    val take = in(Bool())
    val leaving = master(Flow(UInt(config.flowBits bits)))
    val newest = master(Flow(word()))
    val sweeping = out(Bool())
    val empty = out(Bool())
  }
  noIoPrefix()

  private val statuses = WideMemory(StateMemory(config.ecc, word, config.flows))
  // No connection can be there before the flow directory has swept its own memories, which takes as long.
  private val line = FlowLine(config)
  io.sweeping := line.io.sweeping

  private val arrival = new Area {
    val status = io.status.m2sPipe()
    val flow = reference(status.payload).flow
    statuses.write(flow, status.payload, status.valid)
    line.io.joins.valid := status.valid
    line.io.joins.payload := flow
  }

  private val leaving = new Area {
    val take = line.io.flows.valid && io.take
    line.io.flows.ready := io.take
    io.leaving.valid := take
    io.leaving.payload := line.io.flows.payload

    private val written = Flow(UInt(config.flowBits bits))
    written.valid := arrival.status.valid
    written.payload := arrival.flow
    val read = new NewestRead(statuses, io.leaving, written)
    io.newest << read.newest
  }

  io.empty := !arrival.status.valid && line.io.empty && !leaving.read.busy
}
