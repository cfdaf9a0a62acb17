// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Astart: adaptive start (Wang, Pau, Yamada, Sanadidi, Gerla 2004; the Astart slides, 11; Yu, thesis, p. 98).
  *
  * ssthresh = 32 segments at the opening (thesis, p. 96). With each estimate e = B RTTmin
  * ([[downbeat.calculation.RateEstimate]]) during start-up and after a timeout: if ssthresh < e, ssthresh = e. While
  * cwnd < ssthresh an ACK of N new bytes adds min(N, SMSS); from ssthresh on the steady policy grows the window, the
  * paper's mini congestion avoidance with Reno. Three duplicate ACKs end it.
  *
  * Arguments: `bwe` = 1 is Astart-BWE, else Astart-ERE; `slide` = 1 takes ERE's samples as the slides' rule does
  * (slide 10), else as the thesis does (p. 100).
  *
  * Departs from the paper: e counts from the ACK behind the one that brought it, because an estimate takes some us.
  */
object Astart extends StartupPolicy {
  val name = "astart"
  override val arguments: Arguments = Arguments(RateWindows.arguments)
  override def state: Bundle = AdaptiveThresholdState()
  override val estimatesRates = true

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val slowStart = new SlowStart(pipe)
    val threshold = new AdaptiveThreshold(pipe, stateBefore(AdaptiveThresholdState()))

    val judge = new s2.Area {
      val opens = insert(event.kind === CongestionEventKind.established)
    }

    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      result.window := slowStart.windowAfter
      when(threshold.raises)(result.window.ssthresh := threshold.estimate)
      when(judge.opens)(result.window.ssthresh := Window.ofBytes(event.segmentSize << 5))
      result.policyState := threshold.after.asBits
    }
  }.result
}
