// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Which estimate raises ssthresh, and whether one still does: 3 bits. */
case class AdaptiveThresholdState() extends Bundle {
  /** The argument: BWE, else ERE by the slides' rule, else by the thesis's. */
  val bwe, slide = Bool()
  /** A loss has ended it. */
  val over = Bool()
}

/** Astart's rule: e = B RTTmin raises ssthresh to e, and nothing lowers it. A loss ends that, a timeout begins it
  * again.
  *
  * e is new with `estimated`, whose windows are the start-up policy's also while cwnd >= ssthresh.
  *
  * @param before on the first node
  */
class AdaptiveThreshold(pipe: PolicyPipe, before: Payload[AdaptiveThresholdState]) extends Area {
  import pipe._
  private val kinds = CongestionEventKind

  private val choose = new s0.Area {
    val estimate = insert(event.rates.chosen(before.bwe, before.slide))
  }
  private val compare = new s1.Area {
    val rises = insert(window.ssthresh < Window.ofBytes(choose.estimate))
  }
  private val judge = new s2.Area {
    val raises = insert(event.kind === kinds.estimated && !before.over && compare.rises)
    val over = insert(event.kind === kinds.loss ||
      before.over && event.kind =/= kinds.timeout && event.kind =/= kinds.established)
  }
  /** The estimate is above ssthresh and counts. */
  val raises: Payload[Bool] = judge.raises
  /** The window e, on the last node. */
  def estimate: UInt = new s3.Area {
    val estimate = Window.ofBytes(choose.estimate)
  }.estimate

  /** On the last node. */
  val after: AdaptiveThresholdState = new s3.Area {
    val after = AdaptiveThresholdState()
    after.bwe := before.bwe
    after.slide := before.slide
    after.over := judge.over
  }.after
}
