// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.config.DownbeatConfig
import downbeat.congestion.InlineResult
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** What the engine tells the inline estimator. */
case class InlineMessage(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val request = InlineRequest()
}

/** What the estimator has found, on its way to the engine. */
case class MeasuredEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val result = InlineResult()
}

/** The inline estimator: the unit of [[InlineMeasurement]] with a queue before it, as [[RateEstimator]]. Most answers
  * bring nothing new, and the engine does not hear of them.
  */
case class InlineEstimator(config: DownbeatConfig) extends Component {
  import InlineEstimator._
  val io = new Bundle {
    val request = slave(Flow(InlineMessage(config)))
    val space = out(Bool())
    val result = master(Stream(MeasuredEvent(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val unit = InlineMeasurement.build(config)
  private val requests = StreamFifo(InlineMessage(config), waiting, latency = 1)
  requests.io.push.valid := io.request.valid
  requests.io.push.payload := io.request.payload
  io.space := RegNext(requests.io.availability > spare) init False

  private val head = requests.io.pop.halfPipe()
  private val (issued, remembered) = StreamFork2(head, synchronous = true)
  unit.io.request.arbitrationFrom(issued)
  unit.io.request.flow := issued.reference.flow
  unit.io.request.operands := issued.request.asBits

  private val owner = remembered.halfPipe()
  private val response = unit.io.response.toStream.halfPipe()
  private val joined = StreamJoin(owner, response)
  io.result << joined.takeWhen(joined.payload._2.lsb).map { both =>
    val event = MeasuredEvent(config)
    event.reference := both._1.reference
    event.result.assignFromBits(both._2 >> 1)
    event
  }.halfPipe()
  io.idle := !io.request.valid && !io.result.valid && !requests.io.occupancy.orR && !head.valid && !owner.valid
}

object InlineEstimator {
  /** Messages in the queue before the unit. */
  private val waiting = 64
  /** Messages that may still come when the queue seems to have no space. */
  private val spare = 8
}
