// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.config.DownbeatConfig
import downbeat.congestion.RateWindows
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** An ACK on its way to the rate estimator. */
case class RateRequest(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val ack = RateEstimateRequest()
}

/** The result of the estimator, on its way to the engine. */
case class EstimatedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val rates = RateWindows()
}

/** The rate estimator: the unit of [[RateEstimate]] with a queue of ACKs before it. Each ACK of a burst counts by
  * itself; the measure stage merges those that find no space.
  */
case class RateEstimator(config: DownbeatConfig) extends Component {
  import RateEstimator._
  val io = new Bundle {
    val request = slave(Flow(RateRequest(config)))
    val space = out(Bool())
    val result = master(Stream(EstimatedEvent(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val queued = new QueuedUnit(RateEstimate.build(config), io.request,
    StreamFifo(RateRequest(config), waiting, latency = 1))(_.reference.flow, _.ack.asBits)
  io.space := queued.space
  io.result << queued.responses.map { both =>
    val event = EstimatedEvent(config)
    event.reference := both._1.reference
    event.rates.assignFromBits(both._2)
    event
  }.halfPipe()
  io.idle := queued.idle && !io.result.valid
}

object RateEstimator {
  /** ACKs in the queue before the unit. */
  private val waiting = 32
}
