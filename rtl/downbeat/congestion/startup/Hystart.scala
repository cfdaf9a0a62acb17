// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What HyStart++ keeps: 149 bits. Round trips are ns; all ones: none. */
case class HystartState() extends Bundle {
  /** Bytes to be acknowledged until the round ends. */
  val left = UInt(32 bits)
  /** The smallest round trip of this round, of the one before it, and of the round that began CSS. */
  val currentRoundMinRtt, lastRoundMinRtt, cssBaselineMinRtt = UInt(36 bits)
  /** Samples of this round, at most 8. */
  val rttSampleCount = UInt(4 bits)
  /** Rounds that have ended in CSS. */
  val cssRounds = UInt(3 bits)
  /** In Conservative Slow Start. */
  val conservative = Bool()
  /** Something was lost: standard slow start from now on. */
  val lost = Bool()
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
  * A round ends when the data that was outstanding at its beginning is acknowledged. The event has no sequence numbers:
  * windowEnd - SND.UNA is the flight that the first ACK of the round left, less all bytes acknowledged since. The ACK
  * that ends a round belongs to it. Where nothing was outstanding the next ACK begins a round and ends none.
  *
  * Full segments are probes, so that ACKs are samples. 32 probes are in flight at most.
  */
object Hystart extends StartupPolicy {
  val name = "hystart"
  val stateBits = 149
  override val paces = true
  private val nRttSample = 8
  private val minRttThresh = 4000000
  private val maxRttThresh = 16000000
  private val cssRounds = 5

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    val before = stateBefore(HystartState())

    val compare = new s0.Area {
      private val segment = event.segmentSize.resize(20)
      val growth = insert(before.lost ? segment | (segment |<< 3))
      val timed = insert(event.probe.answered || event.rttValid)
      val rtt = insert(event.probe.answered ? event.probe.roundTrip | event.rtt)
      private val full = before.rttSampleCount === nRttSample
      val count = insert((timed && !full) ? (before.rttSampleCount + 1) | before.rttSampleCount)
      val reached = insert(event.ackedBytes >= before.left)
      val empty = insert(!before.left.orR)
      val left = insert(before.left - event.ackedBytes)
      private val eighth = before.lastRoundMinRtt |>> 3
      private val atMost = (eighth > maxRttThresh) ? U(maxRttThresh, 24 bits) | eighth.resize(24)
      val rttThresh = insert((eighth < minRttThresh) ? U(minRttThresh, 24 bits) | atMost)
    }

    val add = new s1.Area {
      val quarters = insert(before.conservative && !before.lost)
      val flight = insert(event.flight - event.ackedBytes)
      private val smaller = compare.timed && compare.rtt < before.currentRoundMinRtt
      val minRtt = insert(Mux[UInt](smaller, compare.rtt, before.currentRoundMinRtt))
      val limit = insert(before.lastRoundMinRtt +^ compare.rttThresh.resize(36))
    }
    val slowStart = new SlowStart(pipe, atMost = Some(compare.growth), quartered = Some(add.quarters))

    val judge = new s2.Area {
      private val sampled = compare.count === nRttSample && !add.minRtt.andR
      private val slower = add.minRtt >= add.limit && !before.lastRoundMinRtt.andR
      private val quicker = add.minRtt < before.cssBaselineMinRtt
      private val ends = compare.reached && !compare.empty
      private val lastRound = before.cssRounds === cssRounds - 1 && ends
      /** The event counts for HyStart++. */
      val counts = insert(event.kind === CongestionEventKind.acknowledged && event.startingUp && !before.lost)
      val opens = insert(event.kind === CongestionEventKind.established)
      val loses = insert(event.isLoss)
      val endsRound = insert(counts && ends)
      val resumesSlowStart = insert(counts && (before.conservative && sampled && quicker))
      val endsStartup = insert(counts && (before.conservative && !(sampled && quicker) && lastRound))
      val beginsCss = insert(counts && (!before.conservative && sampled && slower))
      val cssRoundsAfter = insert(before.conservative ? (before.cssRounds + U(ends)) | U(ends).resize(3))
    }

    val result = Payload(PolicyAnswer(stateBits, paces))
    new s3.Area {
      val after = CombInit[HystartState](before).allowOverride()
      result.window := slowStart.windowAfter
      when(judge.counts) {
        after.left := Mux[UInt](compare.reached, add.flight, compare.left)
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
      }
      when(judge.loses)(after.lost := True)
      when(judge.opens) {
        after.assignFromBits(B(0, stateBits bits))
        after.currentRoundMinRtt.setAll()
        after.lastRoundMinRtt.setAll()
        after.cssBaselineMinRtt.setAll()
      }
      result.policyState := after.asBits
      result.departure := DeparturePlan.configured
      result.departure.allowOverride()
      result.departure.probe := event.startingUp && !before.lost
      result.departure.begins := event.startingUp && !before.lost
    }
  }.result
}
