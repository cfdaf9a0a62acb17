// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{CubicGrowth, CubicRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** CUBIC (RFC 9438), C = 0.4, beta = 0.7.
  *
  * In congestion avoidance each ACK adds to the bytes that are to be accounted for. [[CubicGrowth]] computes by how
  * much the window grows for them: (target - cwnd) / cwnd for each byte, target = W_cubic(t + RTT) between cwnd and 1.5
  * cwnd. Where W_cubic(t) < W_est, cwnd = W_est (4.3; cwnd never shrinks for that). Bytes acknowledged during a
  * calculation wait for the next request. A request takes 2^18 - 1 bytes at most.
  *
  * An epoch begins with the first ACK of a stage of congestion avoidance: t = 0, W_est = cwnd, K from W_max and cwnd.
  * K = 0 and W_max = cwnd where cwnd >= W_max, after a timeout (4.8), and where start-up ended without a loss (4.10).
  *
  * Loss (4.6, 4.7): cwnd_prior = cwnd; W_max = cwnd, or 0.85 cwnd if cwnd < W_max (fast convergence);
  * ssthresh = max(0.7 flight, 2 SMSS). 0.3 and 0.15 are rounded to 16 bits. A timeout does the same, but W_max is the
  * cwnd of the next epoch.
  *
  * Time does not pass while the application does not fill the window (4.2): an ACK that finds less than half a window
  * in flight adds neither time nor bytes, and the time for which nothing was in flight is left out. Spurious losses are
  * not undone (4.9): the engine detects none.
  */
object Cubic extends SteadyPolicy {
  val name = "cubic"
  override def state: Bundle = CubicState()
  override val calculator: Option[Calculator] = Some(CubicGrowth)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import CubicState.saturated
    import pipe._
    val before = stateBefore(CubicState())
    val time = new CubicTime(pipe, before)

    val add = new s0.Area {
      /** cwnd in whole bytes, and with 16 fraction bits. */
      val cwndBytes = insert(saturated(window.cwnd >> 16, 30))
      val cwnd = insert(saturated(window.cwnd, 46))
      val acked = insert(before.acked +^ event.ackedBytes)
      val tMinusK = insert(before.tMinusK - calculated.response(28 downto 0).asUInt.resize(31).asSInt)
    }
    val growth = new CubicIncrease(pipe, before)

    val bound = new s1.Area {
      val belowMax = insert(add.cwndBytes < before.wMax)
      val acked = insert(saturated(add.acked, 30))
    }
    val decrease = new CubicDecrease(pipe, add.cwndBytes, bound.belowMax)
    val judge = new CubicDecision(pipe, before, time, bound.belowMax, bound.acked)

    val result = Payload(PolicyResult(stateBits, requestBits = requestBits))
    val update = new s3.Area {
      result.window := window
      when(judge.grows)(result.window.cwnd := growth.cwnd)
      when(judge.loses)(result.window.ssthresh := decrease.ssthresh)

      val after = CombInit[CubicState](before).allowOverride()
      when(time.sampled)(after.roundTrip := time.roundTrip)
      when(judge.acknowledges || judge.resumes)(after.countedAt := time.ticksNow)
      when(judge.acknowledges && !judge.avoids)(after.endEpoch())
      when(judge.avoids) {
        when(time.busy) {
          after.acked := bound.acked
          after.tMinusK := time.tMinusK
        }
        when(judge.waits)(after.beginEpoch(add.cwnd, add.cwndBytes, bound.belowMax))
      }
      when(judge.rooted)(after.beginGrowth(add.tMinusK))
      when(judge.accounts) {
        after.wEst := growth.wEst
        after.acked := growth.unaccounted
      }
      when(judge.loses) {
        after.endEpoch()
        after.cwndPrior := add.cwndBytes
        after.wMax := Mux(judge.timesOut, U(0, 30 bits), decrease.wMax)
      }
      when(judge.opens)(after.begin(time.sampled))
      result.policyState := after.asBits
    }

    new s3.Area { // a request goes with an ACK in congestion avoidance, so it takes what that ACK leaves
      val request = CubicRequest()
      request.root := judge.requestsRoot
      request.reno := judge.reno
      request.segmentSize := event.segmentSize
      request.acked := judge.requested
      request.roundTrip := update.after.roundTrip
      request.tMinusK := Mux(judge.waits, S(0, 31 bits), Mux(time.busy, time.tMinusK, before.tMinusK))
      request.wMax := Mux[UInt](judge.waits && !bound.belowMax, add.cwndBytes, before.wMax)
      request.cwnd := add.cwnd
      request.wEst := Mux[UInt](judge.waits, add.cwnd, before.wEst)
      result.calculation.assign(judge.requests, request,
        note = Mux(judge.requestsRoot, B(0, 48 bits), judge.requested.asBits.resize(48)))
    }
  }.result
}
