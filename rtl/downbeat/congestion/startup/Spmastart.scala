// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** SPM, then Astart: a combination of the two that Yu's thesis names as future work.
  *
  * [[Spm]] measures the path in its first rounds, where ERE still knows nothing: ERE follows the window by three to
  * four rounds. But SPM measures once, and where its estimate is low, or its pairs were disturbed, start-up ends too
  * early. So SPM's estimate sets ssthresh, and from then on e = B RTTmin raises it as [[Astart]] does.
  *
  * Before SPM is over e counts only where cwnd has reached ssthresh and samples are missing, so that ERE does not
  * postpone SPM's estimate and a path that disturbs all pairs still has Astart.
  *
  * Arguments: `bwe` and `slide` are Astart's, `inverted` SPM's.
  *
  * Departs from the thesis, whose p. 110 has BWE on a path that is moderately congested and SPM on any other: it gives
  * no measure of congestion, so here the time decides.
  */
object Spmastart extends StartupPolicy {
  val name = "spmastart"
  override val arguments: Arguments = Arguments(RateWindows.arguments :+ Argument("inverted", 1))
  override def state: Bundle = SpmastartState()
  override val estimatesRates = true
  override val paces: Boolean = Spm.paces
  override val calculator: Option[Calculator] = Spm.calculator

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(SpmastartState())
    val own = new s0.Area {
      val spm = insert(before.spm.asBits)
      val threshold = insert {
        val threshold = AdaptiveThresholdState()
        threshold.bwe := before.bwe
        threshold.slide := before.slide
        threshold.over := before.ended
        threshold
      }
      val over = insert(before.spm.over)
      val complete = insert(before.spm.count === Spm.samples)
    }
    val spm = Spm.build(pipe.withState(own.spm))
    val threshold = new AdaptiveThreshold(pipe, own.threshold)

    val judge = new s2.Area {
      val may = insert(own.over || !event.startingUp && !own.complete)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = SpmastartState()
      after.bwe := threshold.after.bwe
      after.slide := threshold.after.slide
      after.ended := threshold.after.over
      after.spm.assignFromBits(spm.policyState)
      result.window := spm.window
      when(threshold.raises && judge.may)(result.window.ssthresh := threshold.estimate)
      result.policyState := after.asBits
      result.departure := spm.departure
      result.calculation := spm.calculation
    }
  }.result

  private case class SpmastartState() extends Bundle {
    /** Which estimate raises ssthresh: BWE, else ERE by the slides' rule, else by the thesis's. */
    val bwe, slide = Bool()
    val spm = SpmState()
    /** A loss has ended Astart. */
    val ended = Bool()
  }
}
