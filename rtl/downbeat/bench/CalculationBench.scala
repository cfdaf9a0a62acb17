// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion._
import downbeat.congestion.startup.Standard
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Test-only: a build whose steady policy has its window calculated, by a unit that takes one request at a time and works some while, so
  * that flows wait for it and it runs out of space.
  */
object CalculationBench {
  def config(base: DownbeatConfig): DownbeatConfig =
    base.copy(startupPolicies = Seq(Standard), steadyPolicies = Seq(Asking))

  /** Adds SMSS to a window in 40 clocks. */
  private object OneSegmentMore extends Calculator {
    val name = "onesegmentmore"
    val requestBits = 64
    val responseBits = 48

    def build(config: EngineSizes): CalculatorUnit = new CalculatorUnit(config, this) {
      private val left = Counter(40)
      private val request = Reg(Bits(requestBits bits))
      private val busy = RegInit(False)
      io.request.ready := !busy
      when(io.request.fire) {
        request := io.request.operands
        busy := True
      }
      when(busy)(left.increment())
      when(left.willOverflow)(busy := False)
      io.response.valid := left.willOverflow
      io.response.payload := (request(47 downto 0).asUInt + Window.ofBytes(request(63 downto 48).asUInt)).asBits
    }
  }

  /** Asks with each ACK; its policy state counts the responses, the stale ones too. */
  private object Asking extends SteadyPolicy {
    val name = "asking"
    val stateBits = 8
    override val calculator: Option[Calculator] = Some(OneSegmentMore)

    def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
      val last = pipe.last
      val kind = last(pipe.event).kind
      val responses = kind === CongestionEventKind.calculated
      val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
      last(result).window := last(pipe.window)
      last(result).policyState := (last(pipe.policyState).asUInt + U(responses)).asBits
      when(responses)(last(result).window.cwnd := last(pipe.calculated).response(47 downto 0).asUInt)
      last(result).calculation.valid := kind === CongestionEventKind.acknowledged && !last(pipe.event).startingUp
      last(result).calculation.operands := last(pipe.event).segmentSize ## last(pipe.window).cwnd
      last(result).calculation.note := 0
      result
    }
  }
}
