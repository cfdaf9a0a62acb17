// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import downbeat.messages.FlowPosition
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** A sequence number for each flow. `opened` is written at once; `updates` wait for it. A read answers one clock after
  * `request`, until the next read. The number is undefined until its flow is opened.
  */
case class FlowPointers(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val opened = slave(Flow(FlowPosition(config)))
    val updates = slave(Stream(FlowPosition(config)))
    val request = slave(Flow(UInt(config.flowBits bits)))
    val response = out(SequenceNumber())
  }
  noIoPrefix()

  private val positions = StateMemory(config.ecc, SequenceNumber(), config.flows)
  private val written = io.opened.valid ? io.opened.payload | io.updates.payload
  positions.write(written.flow, written.sequence, enable = io.opened.valid || io.updates.valid)
  io.updates.ready := !io.opened.valid
  io.response := positions.readSync(io.request.payload, enable = io.request.valid)
}

object FlowPointers {
  /** A Flow cannot wait for an opening in the same clock: four of them can wait here. Connections open far more rarely.
    */
  def patient(positions: Flow[FlowPosition]): Stream[FlowPosition] = positions.toStream.queue(4, latency = 1)
}
