// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.congestion.{Calculated, CongestionEvent, DeliverySample, Policy, PolicyResult, PolicyPipe, Window}
import downbeat.time.Instant
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A policy's inputs: an event and the state before it. */
case class PolicyRequest(stateBits: Int) extends Bundle {
  val event = CongestionEvent()
  val window = Window()
  val policyState = Bits(stateBits bits)
  val now = Instant()
  val delivery = DeliverySample()
  val calculating = Bool()
  val calculated = Calculated()
}

/** Test-only module: one policy between ports, with a request in each clock. Tests compare its results with its golden
  * model bit for bit.
  */
case class PolicyBench(policy: Policy) extends Component {
  val io = new Bundle {
    val request = slave(Flow(PolicyRequest(policy.stateBits)))
    val answer = master(Flow(PolicyResult(policy.stateBits, policy.paces, policy.requestBits, policy.bounds)))
  }
  noIoPrefix()

  private val nodes = List.fill(PolicyPipe.steps + 1)(Node())
  private val request = io.request.m2sPipe
  nodes.head.valid := request.valid
  private val pipe = new PolicyPipe(
    nodes,
    event = nodes.head.insert(request.event),
    window = nodes.head.insert(request.window),
    policyState = nodes.head.insert(request.policyState),
    now = nodes.head.insert(request.now),
    delivery = nodes.head.insert(request.delivery),
    calculating = nodes.head.insert(request.calculating),
    calculated = nodes.head.insert(request.calculated))
  private val result = policy.build(pipe)
  new pipe.s3.Area {
    io.answer.valid := isValid
    io.answer.payload := result
  }
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down))
}
