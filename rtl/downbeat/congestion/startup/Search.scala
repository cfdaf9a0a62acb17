// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{SearchBins, SearchBinsRequest, SearchBinsResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** SEARCH: slow start exit at the right chokepoint (Chung, Kachooei, Li, Claypool, draft-chung-ccwg-search).
  *
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, 8 SMSS). Time is divided into bins. When one is over,
  * what was delivered in the last 3.5 round trips is compared with what was sent one round trip before
  * ([[SearchBins]]). If it is 26 % less, the path does not take more: ssthresh = cwnd.
  *
  * Bytes sent are those acknowledged and those in flight, which is exact while nothing is lost. A loss ends SEARCH;
  * then slow start is RFC 5681's. After more than ten bins without an ACK the bins begin again, as the draft allows.
  *
  * Departs from the draft: the window stays where it is at the exit; the draft may drain it down to what was delivered.
  * Bytes count in units of 256.
  */
object Search extends StartupPolicy {
  val name = "search"
  override def state: Bundle = SearchState()
  override val calculator: Option[Calculator] = Some(SearchBins)

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(SearchState())

    val add = new s0.Area {
      private val segment = event.segmentSize.resize(20)
      val growth = insert(before.over ? segment | (segment |<< 3))
      val acked = insert(before.acked + event.ackedBytes)
      val late = insert(now.ns - before.binEnd)
      private val response = calculated.response.resize(SearchBins.responseBits).as(SearchBinsResponse())
      val binEnd = insert((before.begun ? before.binEnd | calculated.note.asUInt) + response.step)
    }
    val slowStart = new SlowStart(pipe, atMost = Some(add.growth))

    val bound = new s1.Area {
      val sent = insert(before.acked + event.flight)
      val isLate = insert(!add.late.msb && add.late.orR)
      val late = insert((add.late >> 36).orR ? U(36 bits, default -> True) | add.late.resize(36))
      val roundTrip = insert(event.rttValid ? event.rtt | before.roundTrip)
    }

    val judge = new s2.Area {
      private val responds = event.kind === kinds.calculated && calculated.ofStartup
      private val response = calculated.response.resize(SearchBins.responseBits).as(SearchBinsResponse())
      val counts = insert(event.kind === kinds.acknowledged && event.startingUp && !before.over)
      val opens = insert(event.kind === kinds.established)
      val begins = insert(responds && !response.restarts)
      val restarts = insert(responds && response.restarts)
      val exits = insert(responds && response.exits && !calculated.stale && !before.over)
      val over = insert(event.isLoss || responds && response.exits && !calculated.stale || before.over)
      val requests = insert(event.kind === kinds.acknowledged && event.startingUp && !before.over && !calculating &&
        bound.roundTrip.orR && (!before.begun || bound.isLate))
    }

    val result = Payload(PolicyResult(stateBits, requestBits = requestBits))
    new s3.Area {
      private val response = calculated.response.resize(SearchBins.responseBits).as(SearchBinsResponse())
      val after = CombInit[SearchState](before).allowOverride()
      result.window := slowStart.windowAfter
      after.roundTrip := bound.roundTrip
      after.over := judge.over
      when(judge.counts)(after.acked := add.acked)
      when(judge.begins) {
        after.begun := True
        after.binEnd := add.binEnd
        after.index := response.index
        when(!before.begun)(after.initialRtt := before.roundTrip)
      }
      when(judge.restarts)(after.begun := False)
      when(judge.exits)(result.window.ssthresh := window.cwnd)
      when(judge.opens) {
        after.assignFromBits(B(0, stateBits bits))
        when(event.rttValid)(after.roundTrip := event.rtt)
      }
      result.policyState := after.asBits
    }

    new s3.Area {
      val request = SearchBinsRequest()
      request.initial := before.begun ? before.initialRtt | bound.roundTrip
      request.late := bound.late
      request.index := before.index
      request.acked := add.acked(31 downto 8)
      request.sent := bound.sent(31 downto 8)
      request.begins := !before.begun
      result.calculation.assign(judge.requests, request, note = now.ns.asBits)
    }
  }.result

  private case class SearchState() extends Bundle {
    /** The last sample, and the one with which the bins began, ns; zero: none. */
    val roundTrip, initialRtt = UInt(36 bits)
    /** When the bin is over, ns; the bin's number as in [[SearchBinsRequest]]. */
    val binEnd = UInt(48 bits)
    val index = UInt(6 bits)
    /** Bytes acknowledged so far, modulo 2^32. */
    val acked = UInt(32 bits)
    /** There are bins; SEARCH is over. */
    val begun, over = Bool()
  }
}
