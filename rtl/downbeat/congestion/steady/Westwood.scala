// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** TCP Westwood (Casetti, Gerla, Mascolo, Sanadidi, Wang 2002; with ERE: Wang, Valla, Sanadidi, Ng, Gerla 2002; the
  * Astart slides, 9).
  *
  * On a loss or a timeout: ssthresh = max(B RTTmin, 2 SMSS), where B is the estimated rate of the connection
  * ([[downbeat.calculation.RateEstimate]]), so that a loss without congestion costs nothing. Without an estimate it is
  * Reno's. Growth is Reno's.
  *
  * Arguments: `bwe` = 1 takes BWE, else B is ERE; `slide` = 1 takes ERE by the slides' rule.
  *
  * Departs from the agent: ssthresh is in bytes, not in whole segments. The ACK that reports the loss is not in the
  * estimate.
  */
object Westwood extends SteadyPolicy {
  val name = "westwood"
  override val arguments: Arguments = Arguments(RateWindows.arguments)
  override def state: Bundle = WestwoodState()
  override val estimatesRates = true

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(WestwoodState())
    val own = new s0.Area {
      val credit = insert(before.credit)
      val estimate = insert(event.rates.chosen(before.bwe, before.slide))
      val twoSegments = insert((event.segmentSize << 1).resize(32))
    }
    val reno = Reno.build(pipe.withState(own.credit))

    val compare = new s1.Area {
      val ssthresh = insert(Mux[UInt](own.estimate < own.twoSegments, own.twoSegments, own.estimate))
      val known = insert(own.estimate.orR)
    }

    val judge = new s2.Area {
      val loses = insert(event.isLoss && compare.known)
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      private val after = CombInit[WestwoodState](before).allowOverride()
      result.window := reno.window
      when(judge.loses)(result.window.ssthresh := Window.ofBytes(compare.ssthresh))
      after.credit := reno.policyState
      result.policyState := after.asBits
    }
  }.result

  private case class WestwoodState() extends Bundle {
    /** The argument. */
    val bwe, slide = Bool()
    /** Reno's policy state. */
    val credit = Bits(Reno.stateBits bits)
  }
}
