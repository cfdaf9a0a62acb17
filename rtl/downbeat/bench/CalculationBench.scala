// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.DownbeatConfig
import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Test-only: a build whose steady policy has its window calculated, by a unit that takes one question at a time and works some while, so
  * that flows wait for it and it runs out of room.
  */
object CalculationBench {
  def config(base: DownbeatConfig): DownbeatConfig =
    base.copy(startupPolicies = Seq(startup.Standard), steadyPolicies = Seq(Asking))

  /** Adds SMSS to a window in 40 clocks. */
  private object OneSegmentMore extends Calculator {
    val name = "onesegmentmore"
    val questionBits = 64
    val answerBits = 48

    def build(config: DownbeatConfig): CalculatorUnit = new CalculatorUnit(config, this) {
      private val left = Counter(40)
      private val question = Reg(Bits(questionBits bits))
      private val busy = RegInit(False)
      io.question.ready := !busy
      when(io.question.fire) {
        question := io.question.question
        busy := True
      }
      when(busy)(left.increment())
      when(left.willOverflow)(busy := False)
      io.answer.valid := left.willOverflow
      io.answer.payload := (question(47 downto 0).asUInt + Window.ofBytes(question(63 downto 48).asUInt)).asBits
    }
  }

  /** Asks with each ACK; its word counts the answers, the stale ones too. */
  private object Asking extends SteadyPolicy {
    val name = "asking"
    val stateBits = 8
    override val calculator: Option[Calculator] = Some(OneSegmentMore)

    def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
      val last = pipe.last
      val kind = last(pipe.event).kind
      val answers = kind === CongestionEventKind.calculated
      val result = Payload(PolicyAnswer(stateBits, questionBits = questionBits))
      last(result).window := last(pipe.window)
      last(result).word := (last(pipe.word).asUInt + U(answers)).asBits
      when(answers)(last(result).window.cwnd := last(pipe.calculated).answer(47 downto 0).asUInt)
      last(result).calculation.valid := kind === CongestionEventKind.acknowledged && !last(pipe.event).startingUp
      last(result).calculation.question := last(pipe.event).segmentSize ## last(pipe.window).cwnd
      last(result).calculation.note := 0
      result
    }
  }
}
