// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The policy state of HyStart++. Round trips are ns; all ones: none. */
case class HystartState() extends Bundle with RoundState {
  val left = UInt(32 bits)
  /** The smallest round trip of this round, of the one before it, and of the round that began CSS. */
  val currentRoundMinRtt, lastRoundMinRtt, cssBaselineMinRtt = UInt(36 bits)
  /** Samples of this round, at most 8. */
  val rttSampleCount = UInt(4 bits)
  /** Probes that were sent in this round, at most 24. */
  val probes = UInt(5 bits)
  /** Rounds that have ended in CSS. */
  val cssRounds = UInt(3 bits)
  /** In Conservative Slow Start. */
  val conservative = Bool()
  /** Something was lost: standard slow start from now on. */
  val lost = Bool()

  /** There is no round trip yet. */
  def restart(): Unit = {
    this.assignFromBits(B(0, widthOf(this) bits))
    currentRoundMinRtt.setAll()
    lastRoundMinRtt.setAll()
    cssBaselineMinRtt.setAll()
  }
}

/** HyStart++ (RFC 9406) with the constants of its 4.3: MIN_RTT_THRESH 4 ms, MAX_RTT_THRESH 16 ms, MIN_RTT_DIVISOR 8,
  * N_RTT_SAMPLE 8, CSS_GROWTH_DIVISOR 4, CSS_ROUNDS 5, L = 8.
  *
  * On an ACK of N new bytes: cwnd += min(N, 8 SMSS), a quarter of that in Conservative Slow Start (CSS). With each ACK
  * of slow start, from the eighth sample of a round on:
  *  - CSS begins if currentRoundMinRTT >= lastRoundMinRTT + RttThresh, RttThresh = min(max(lastRoundMinRTT / 8, 4 ms),
  *    16 ms).
  *  - Slow start resumes if currentRoundMinRTT < cssBaselineMinRTT.
  *  - ssthresh = cwnd at the end of the fifth round in CSS, counting the one in which CSS began. A loss ends HyStart++;
  *    slow start is then RFC 5681's.
  *
  * The smallest round trip of a round is that of its first segments, which left when the window was half as large: CSS
  * begins with 2.25 to 4.5 windows of the path, when a queue of 1.25 to 3.5 may be full. Its five rounds make three
  * times that: they limit what a queue of fewer than 6 to 13 windows loses, and prevent it in a longer one.
  *
  * Rounds are counted in bytes ([[ByteRound]]). Where the engine times one segment a round trip, probes are samples:
  * the first 24 full segments that leave in a round. Their ACKs are the first of the next round, also from a receiver
  * that acknowledges every second segment, and few enough to find a place in the log beside those of the round before.
  */
object Hystart extends StartupPolicy {
  val name = "hystart"
  override def state: Bundle = HystartState()
  override val paces = true
  private val nRttSample = 8
  private val probesOfRound = 24
  private val minRttThresh = 4000000
  private val maxRttThresh = 16000000
  private val cssRounds = 5

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(HystartState())
    val round = new ByteRound(pipe, before)

    val compare = new s0.Area {
      private val segment = event.segmentSize.resize(20)
      val growth = insert(before.lost ? segment | (segment |<< 3))
      val timed = insert(event.isTimed)
      val rtt = insert(event.roundTrip)
      private val full = before.rttSampleCount === nRttSample
      val count = insert((timed && !full) ? (before.rttSampleCount + 1) | before.rttSampleCount)
      private val eighth = before.lastRoundMinRtt |>> 3
      private val atMost = (eighth > maxRttThresh) ? U(maxRttThresh, 24 bits) | eighth.resize(24)
      val rttThresh = insert((eighth < minRttThresh) ? U(minRttThresh, 24 bits) | atMost)
    }

    val add = new s1.Area {
      val quarters = insert(before.conservative && !before.lost)
      private val smaller = compare.timed && compare.rtt < before.currentRoundMinRtt
      val minRtt = insert(Mux[UInt](smaller, compare.rtt, before.currentRoundMinRtt))
      val limit = insert(before.lastRoundMinRtt +^ compare.rttThresh.resize(36))
    }
    val slowStart = new SlowStart(pipe, atMost = Some(compare.growth), quartered = Some(add.quarters))

    val judge = new s2.Area {
      private val sampled = compare.count === nRttSample && !add.minRtt.andR
      private val slower = add.minRtt >= add.limit && !before.lastRoundMinRtt.andR
      private val quicker = add.minRtt < before.cssBaselineMinRtt
      private val lastRound = before.cssRounds === cssRounds - 1 && round.ends
      /** The event counts for HyStart++. */
      val counts = insert(event.kind === CongestionEventKind.acknowledged && event.startingUp && !before.lost)
      val opens = insert(event.kind === CongestionEventKind.established)
      val sends = insert(event.kind === CongestionEventKind.sent && event.sentProbe && before.probes =/= probesOfRound)
      val loses = insert(event.isLoss)
      val endsRound = insert(counts && round.ends)
      val resumesSlowStart = insert(counts && (before.conservative && sampled && quicker))
      val endsStartup = insert(counts && (before.conservative && !(sampled && quicker) && lastRound))
      val beginsCss = insert(counts && (!before.conservative && sampled && slower))
      private val ended = U(apply(round.ends))
      val cssRoundsAfter = insert(before.conservative ? (before.cssRounds + ended) | ended.resize(3))
    }

    val result = Payload(PolicyResult(stateBits, paces))
    new s3.Area {
      val after = CombInit[HystartState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(judge.counts) {
        after.left := round.left
        after.currentRoundMinRtt := add.minRtt
        after.rttSampleCount := compare.count
      }
      when(judge.beginsCss)(after.cssBaselineMinRtt := add.minRtt)
      when(judge.beginsCss || judge.counts && before.conservative)(after.cssRounds := judge.cssRoundsAfter)
      after.conservative := (before.conservative || judge.beginsCss) && !judge.resumesSlowStart
      when(judge.endsStartup)(result.window.ssthresh := slowStart.windowAfter.cwnd)
      when(judge.endsRound) {
        after.lastRoundMinRtt := add.minRtt
        after.currentRoundMinRtt.setAll()
        after.rttSampleCount := 0
        after.probes := 0
      }
      when(judge.sends)(after.probes := before.probes + 1)
      when(judge.loses)(after.lost := True)
      when(judge.opens)(after.restart())
      result.policyState := after.asBits
      result.departure := DeparturePlan.probing(event.startingUp && !before.lost && after.probes =/= probesOfRound)
    }
  }.result
}
