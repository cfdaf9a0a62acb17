// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.config.DownbeatConfig
import downbeat.congestion.InlineResult
import downbeat.lib.WideQueue
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** A message of the engine to the inline estimator. */
case class InlineMessage(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val request = InlineRequest()
}

/** A result of the estimator, on its way to the engine. */
case class MeasuredEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val result = InlineResult()
}

/** The inline estimator: the unit of [[InlineMeasurement]] with a queue before it. Most answers bring nothing
  * new, and the engine does not hear of them.
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

  private val queued = new QueuedUnit(InlineMeasurement.build(config), io.request,
    WideQueue(InlineMessage(config), waiting))(_.reference.flow, _.request.asBits)
  io.space := queued.space
  io.result << queued.responses.takeWhen(queued.responses.payload._2.lsb).map { both =>
    val event = MeasuredEvent(config)
    event.reference := both._1.reference
    event.result.assignFromBits(both._2 >> 1)
    event
  }.halfPipe()
  io.idle := queued.idle && !io.result.valid
}

object InlineEstimator {
  /** Messages in the queue before the unit. */
  private val waiting = 64
}
