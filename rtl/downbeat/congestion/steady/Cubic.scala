// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{CubicGrowth, CubicRequest, CubicResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** CUBIC (RFC 9438), C = 0.4, beta = 0.7.
  *
  * In congestion avoidance each ACK adds to the bytes that are to be accounted for. [[CubicGrowth]] computes by how much the window grows for
  * them: (target - cwnd) / cwnd for each byte, target = W_cubic(t + RTT) between cwnd and 1.5 cwnd. Where W_cubic(t) < W_est, cwnd = W_est (4.3;
  * cwnd never shrinks for that). Bytes acknowledged during a calculation wait for the next request. A request takes 2^18 - 1 bytes at most.
  *
  * An epoch begins with the first ACK of a stage of congestion avoidance: t = 0, W_est = cwnd, K from W_max and cwnd. K = 0 and W_max = cwnd
  * where cwnd >= W_max, after a timeout (4.8), and where start-up ended without a loss (4.10).
  *
  * Loss (4.6, 4.7): cwnd_prior = cwnd; W_max = cwnd, or 0.85 cwnd if cwnd < W_max (fast convergence); ssthresh = max(0.7 flight, 2 SMSS). 0.3 and
  * 0.15 are rounded to 16 bits. A timeout does the same, but W_max is the cwnd of the next epoch.
  *
  * Time does not pass while the application does not fill the window (4.2): an ACK that finds less than half a window in flight adds neither
  * time nor bytes, and the time for which nothing was in flight is left out. Spurious losses are not undone (4.9): the engine detects none.
  */
object Cubic extends SteadyPolicy {
  val name = "cubic"
  val stateBits = 225
  override val calculator: Option[Calculator] = Some(CubicGrowth)
  private val lost = 19661 // 0.3, 16 fraction bits
  private val converging = 9831 // 0.15

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import CubicState.saturated
    import pipe._
    private val (kinds, phases) = (CongestionEventKind, CubicPhase)
    val before = stateBefore(CubicState())
    val time = new CubicTime(pipe, before)

    val add = new s0.Area {
      private val response = calculated.response.as(CubicResponse())
      val lostShare = insert(U(lost, 16 bits))
      val opens = insert(event.kind === kinds.established)
      /** cwnd in whole bytes, and with 16 fraction bits. */
      val cwndBytes = insert(saturated(window.cwnd >> 16, 30))
      val cwnd = insert(saturated(window.cwnd, 46))
      val acked = insert(before.acked +^ event.ackedBytes)
      val unaccounted = insert((before.acked -^ calculated.note(29 downto 0).asUInt).asSInt)
      val grown = insert(window.cwnd + response.increase.resize(48))
      val wEst = insert(before.wEst +^ response.estimated)
      val tMinusK = insert(before.tMinusK - calculated.response(28 downto 0).asUInt.resize(31).asSInt)
    }
    val decrease = new MultiplicativeDecrease(pipe, add.lostShare)

    val bound = new s1.Area {
      val belowMax = insert(add.cwndBytes < before.wMax)
      val acked = insert(saturated(add.acked, 30))
      val wEst = insert(saturated(add.wEst, 46))
    }
    val converged = MultiplicativeDecrease.remainder(s1, s2, add.cwndBytes, U(converging, 16 bits))

    val judge = new s2.Area {
      private val calculates = event.kind === kinds.calculated && !calculated.ofStartup
      private val isRoot = !calculated.note.orR
      private val growing = calculates && !isRoot && before.phase === phases.grows
      val acknowledges = insert(event.kind === kinds.acknowledged)
      val avoids = insert(event.kind === kinds.acknowledged && !event.startingUp)
      val loses = insert(event.isLoss)
      val timesOut = insert(event.kind === kinds.timeout)
      val resumes = insert(event.kind === kinds.sent && !event.flight.orR)
      val rooted = insert(calculates && !calculated.stale && isRoot && before.phase === phases.begins)
      val grows = insert(growing)
      val accounts = insert(growing && !calculated.stale)
      val belowEst = insert(window.cwnd < bound.wEst.resize(48))
      val waits = insert(before.phase === phases.waits)
      val reno = insert(before.wEst(45 downto 16) >= before.cwndPrior)
      val requested = insert(saturated(bound.acked, 18))
      val requestsRoot = insert(Mux[Bool](before.phase === phases.waits, bound.belowMax, before.phase === phases.begins))
      val requests = insert(
        event.kind === kinds.acknowledged && !event.startingUp && !calculating &&
          (requestsRoot || before.phase === phases.grows && time.busy && bound.acked.orR))
    }

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    val answer = new s3.Area {
      private val friendly = Mux[UInt](judge.belowEst, bound.wEst.resize(48), window.cwnd)
      result.window := window
      when(judge.grows)(result.window.cwnd := Mux[UInt](calculated.response.as(CubicResponse()).friendly, friendly, add.grown))
      when(judge.loses)(result.window.ssthresh := decrease.ssthresh)

      val after = CombInit[CubicState](before).allowOverride()
      when(event.rttValid)(after.roundTrip := time.roundTrip)
      when(judge.acknowledges || judge.resumes)(after.countedAt := time.ticksNow)
      when(judge.acknowledges && !judge.avoids) {
        after.phase := phases.waits
        after.acked := 0
      }
      when(judge.avoids) {
        when(time.busy) {
          after.acked := bound.acked
          after.tMinusK := time.tMinusK
        }
        when(before.phase === phases.waits) {
          after.tMinusK := 0
          after.wEst := add.cwnd
          after.phase := phases.begins
          when(!bound.belowMax) {
            after.wMax := add.cwndBytes
            after.phase := phases.grows
          }
        }
      }
      when(judge.rooted) {
        after.tMinusK := add.tMinusK
        after.phase := phases.grows
      }
      when(judge.accounts) {
        after.wEst := bound.wEst
        after.acked := add.unaccounted.msb ? U(0, 30 bits) | add.unaccounted.asUInt.resize(30)
      }
      when(judge.loses) {
        after.phase := phases.waits
        after.acked := 0
        after.cwndPrior := add.cwndBytes
        after.wMax := Mux(judge.timesOut, U(0, 30 bits), Mux[UInt](bound.belowMax, converged.resize(30), add.cwndBytes))
      }
      when(add.opens) {
        after.wMax := 0
        after.cwndPrior := 0
        after.tMinusK := 0
        after.wEst := 0
        after.acked := 0
        after.phase := phases.waits
        when(!event.rttValid)(after.roundTrip := 0)
      }
      result.policyState := after.asBits
    }

    // A request goes with an ACK in congestion avoidance, so it takes what that ACK leaves.
    new s3.Area {
      val request = CubicRequest()
      request.root := judge.requestsRoot
      request.reno := judge.reno
      request.segmentSize := event.segmentSize
      request.acked := judge.requested
      request.roundTrip := answer.after.roundTrip
      request.tMinusK := Mux(judge.waits, S(0, 31 bits), Mux(time.busy, time.tMinusK, before.tMinusK))
      request.wMax := Mux[UInt](judge.waits && !bound.belowMax, add.cwndBytes, before.wMax)
      request.cwnd := add.cwnd
      request.estimate := Mux[UInt](judge.waits, add.cwnd, before.wEst)
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := Mux(judge.requestsRoot, B(0, 48 bits), judge.requested.asBits.resize(48))
    }
  }.result
}
