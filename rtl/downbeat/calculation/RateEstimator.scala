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

/** What the estimator makes of it, on its way to the engine. */
case class EstimatedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val rates = RateWindows()
}

/** The rate estimator: the unit of [[RateEstimate]] with a queue of ACKs before it. It is no calculator of a policy, so
  * no calculation waits for it.
  *
  * The engine puts an ACK into the queue only if there is `space`. It is false early enough for the ACKs that the
  * pipeline still brings. So each ACK of a burst counts by itself; the measure stage merges those that find no space.
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

  private val unit = RateEstimate.build(config)
  private val requests = StreamFifo(RateRequest(config), waiting, latency = 1)
  requests.io.push.valid := io.request.valid
  requests.io.push.payload := io.request.payload
  io.space := RegNext(requests.io.availability > spare) init False

  private val head = requests.io.pop.halfPipe()
  private val (issued, remembered) = StreamFork2(head, synchronous = true)
  unit.io.request.arbitrationFrom(issued)
  unit.io.request.flow := issued.reference.flow
  unit.io.request.operands := issued.ack.asBits

  private val owner = remembered.halfPipe()
  private val response = unit.io.response.toStream.halfPipe()
  io.result << StreamJoin(owner, response).map { joined =>
    val event = EstimatedEvent(config)
    event.reference := joined._1.reference
    event.rates.assignFromBits(joined._2)
    event
  }.halfPipe()
  io.idle := !io.request.valid && !io.result.valid && !requests.io.occupancy.orR && !head.valid && !owner.valid
}

object RateEstimator {
  /** ACKs in the queue before the unit. */
  private val waiting = 32
  /** ACKs that may still come when the queue seems to have no space. */
  private val spare = 8
}
