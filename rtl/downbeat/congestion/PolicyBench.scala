// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.DownbeatConfig
import downbeat.time.Instant
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What one policy is asked: an event and the state before it. */
case class PolicyQuestion(stateBits: Int) extends Bundle {
  val event = CongestionEvent()
  val window = Window()
  val word = Bits(stateBits bits)
  val now = Instant()
  val calculating = Bool()
  val calculated = Calculated()
}

/** Test-only room: one policy alone between ports, a question a clock, so that its answers can be held against
  * its golden model bit for bit.
  */
case class PolicyBench(policy: Policy) extends Component {
  val io = new Bundle {
    val question = slave(Flow(PolicyQuestion(policy.stateBits)))
    val answer = master(Flow(PolicyAnswer(policy.stateBits, policy.paces, policy.questionBits)))
  }
  noIoPrefix()

  private val nodes = List.fill(PolicyPipe.steps + 1)(Node())
  private val question = io.question.m2sPipe
  nodes.head.valid := question.valid
  private val pipe = new PolicyPipe(
    nodes,
    event = nodes.head.insert(question.event),
    window = nodes.head.insert(question.window),
    word = nodes.head.insert(question.word),
    now = nodes.head.insert(question.now),
    calculating = nodes.head.insert(question.calculating),
    calculated = nodes.head.insert(question.calculated))
  private val result = policy.build(pipe)
  io.answer.valid := pipe.last.isValid
  io.answer.payload := pipe.last(result)
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down))
}

object PolicyBench {
  /** A room for each registered policy: `PolicyReno` for "reno". */
  val rooms: Map[String, DownbeatConfig => Component] = (Policies.startup ++ Policies.steady)
    .map(policy => s"Policy${policy.name.capitalize}" -> ((_: DownbeatConfig) => PolicyBench(policy)))
    .toMap
}
