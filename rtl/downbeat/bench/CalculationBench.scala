// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.congestion._
import downbeat.congestion.startup.Standard
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Test-only: a build whose steady policy has its window calculated by a slow unit with one request at a time. Flows
  * wait for it, and it runs out of space.
  */
object CalculationBench {
  def config(base: DownbeatConfig): DownbeatConfig =
    base.copy(startup = PolicySet.whole(Seq(Standard)), steady = PolicySet.whole(Seq(Requesting)), hostStart = false)

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

  private case class Counted() extends Bundle {
    val responses = UInt(8 bits)
  }

  /** Makes a request with each ACK. Its policy state counts the responses, also the stale ones. */
  private object Requesting extends SteadyPolicy {
    val name = "requesting"
    override def state: Bundle = Counted()
    override val calculator: Option[Calculator] = Some(OneSegmentMore)

    def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
      import pipe._
      val result = Payload(PolicyResult(stateBits, requestBits = requestBits))
      new s3.Area {
        val responds = event.kind === CongestionEventKind.calculated
        result.window := window
        result.policyState := (policyState.asUInt + U(responds)).asBits
        when(responds)(result.window.cwnd := calculated.response(47 downto 0).asUInt)
        result.calculation.valid := event.kind === CongestionEventKind.acknowledged && !event.startingUp
        result.calculation.operands := event.segmentSize ## window.cwnd
        result.calculation.note := 0
      }
    }.result
  }
}
