// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{GapWindow, GapWindowRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Paced Start (Hu and Steenkiste, "Improving TCP Startup Performance using Active Measurements", 2003; Yu, thesis,
  * Algorithm 3, whose end is missing).
  *
  * Trains of 2, 4, 8, 16 and 32 segments leave, each when the ACKs of the one before have come. The first leaves back
  * to back, and its ACKs arrive g1 apart; the next has the input gap 2 g1. With the mean output gap of a later train:
  * {{{
  * out > (1 + theta) in:  low = in;   gap = (low + high) / 2 if there is a high, else 2 in
  * otherwise:             high = in;  gap = (low + high) / 2
  * }}}
  * It ends with the first train that finds the path free, and its gap is `in`; with the argument `bisect` = 1, or where
  * no train does, it ends with the train of 32, and the gap is high, or the next one if there is none. Then
  * ssthresh = floor(R / gap) segments ([[GapWindow]]), R the smallest round trip. theta is ours: 3/64.
  *
  * cwnd is two segments at first and grows as in standard slow start. A train that was disturbed, or whose ACKs do not
  * come one by one, leaves the gap as it is. Without g1, or after a loss, there is no estimate.
  */
object Past extends StartupPolicy {
  val name = "past"
  override val arguments: Arguments = Arguments(Seq(Argument("bisect", 1)))
  private val gapBits = 36
  /** Of a sum of 31 gaps. */
  private val sumBits = gapBits + 5
  val stateBits: Int = 1 + 3 + 6 + 5 + 2 * sumBits + 3 * gapBits + 3
  override val comparesRoundTrips = true
  override val paces = true
  override val calculator: Option[Calculator] = Some(GapWindow)
  /** The last train has 2 to the power of this. */
  private val last = 5

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind
    val before = stateBefore(PastState())
    val slowStart = new SlowStart(pipe)

    val add = new s0.Area {
      private def half(a: UInt, b: UInt) = insert(((a +^ b) >> 1).resize(gapBits))
      val sum = insert(before.sum + event.probe.arrivalGap)
      val count = insert(before.count + 1)
      val lower = half(before.low, before.gap)
      val upper = half(before.high, before.gap)
      val doubled =
        insert(before.gap.msb ? U(gapBits bits, default -> True) | (before.gap |<< 1))
      val tripled = insert(before.gap +^ (before.gap << 1))
      /** The size of the train. */
      val size = insert((U(1, 6 bits) |<< before.train).resize(6))
    }

    val compare = new s1.Area {
      val complete = insert(add.count === (add.size - 1).resize(5))
      val saturated = insert(before.limit < add.sum)
      val full = insert(before.position === add.size)
      val next = insert(before.position + 1)
      val scaled = insert(before.gap.resize(sumBits) + (add.tripled >> 6).resize(sumBits))
      val tells = insert(event.probe.arrivalGap.orR && !event.probe.arrivalGap.andR)
    }

    val judge = new s2.Area {
      private val measured = event.probe.answered && !event.probe.begins && !event.probe.disturbed
      private val ends = measured && compare.complete && !before.judged && !before.done && !before.over
      val limit = insert((compare.scaled |<< before.train) - compare.scaled)
      val restarts = insert(event.probe.answered && event.probe.begins)
      val counts = insert(measured && !before.judged)
      val first = insert(ends && before.train === 1 && compare.tells)
      val later = insert(ends && before.train =/= 1)
      val gap = insert {
        val gap = CombInit[UInt](add.lower)
        when(compare.saturated)(gap := Mux[UInt](before.high.orR, add.upper, add.doubled))
        gap
      }
      val isLast = insert(before.train === last)
      val moves = insert(event.kind === kinds.sent && compare.full)
      val advances = insert(event.kind === kinds.sent && !compare.full && event.sentProbe)
      val loses = insert(event.isLoss)
      val opens = insert(event.kind === kinds.established)
      val told = insert(event.kind === kinds.calculated && calculated.ofStartup)
      val requests = insert(before.done && !before.over && !event.rttMinimum.andR && !calculating)
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits))
    val answer = new s3.Area {
      val after = CombInit[PastState](before).allowOverride()
      result.window := slowStart.windowAfter
      after.limit := judge.limit
      when(judge.counts) {
        after.sum := add.sum
        after.count := add.count
      }
      when(judge.restarts) {
        after.sum := 0
        after.count := 0
      }
      when(judge.first) {
        after.judged := True
        after.low := event.probe.arrivalGap
        after.gap := event.probe.arrivalGap.msb ? U(gapBits bits, default -> True) | (event.probe.arrivalGap |<< 1)
      }
      when(judge.later) {
        after.judged := True
        after.gap := judge.gap
        when(compare.saturated) {
          after.low := before.gap
          when(judge.isLast) {
            after.done := True
            when(before.high.orR)(after.gap := before.high)
          }
        } otherwise {
          after.high := before.gap
          when(judge.isLast || !before.bisect) {
            after.done := True
            after.gap := before.gap
          }
        }
      }
      when(judge.moves && !before.done) {
        when(before.train === 1 && !before.judged)(after.over := True)
        when(judge.isLast) {
          after.done := True
          when(before.high.orR)(after.gap := before.high)
        } otherwise {
          after.train := before.train + 1
          after.position := event.sentProbe.asUInt.resized
          after.judged := False
        }
      }
      when(judge.advances)(after.position := compare.next)
      when(judge.told) {
        after.over := True
        result.window.ssthresh := Window.ofBytes(calculated.response(GapWindow.responseBits - 1 downto 0).asUInt)
      }
      when(judge.loses)(after.over := True)
      when(judge.opens) {
        after.assignFromBits(before.bisect.asBits.resize(stateBits))
        after.train := 1
        result.window.cwnd := Window.ofBytes((event.segmentSize << 1).resize(32))
      }
      result.policyState := after.asBits

      private val size = U(1, 6 bits) |<< after.train
      private val begins = !after.position.orR || after.position === size
      result.departure := DeparturePlan.configured
      result.departure.allowOverride()
      when(!after.over && !after.done && !(after.train === last && after.position === size)) {
        result.departure.pace := (begins || after.train =/= 1) ? Pace.apart | Pace.adjacent
        result.departure.time := ((begins ? U(0, gapBits bits) | after.gap) << 16).resized
        result.departure.probe := True
        result.departure.begins := begins
        when(begins)(result.departure.minimumSegments := after.position.orR ? (size |<< 1) | size)
      }
    }

    new s3.Area {
      val request = GapWindowRequest()
      request.gap := before.gap
      request.roundTrip := event.rttMinimum
      request.segmentSize := event.segmentSize
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := 0
    }
  }.result

  private case class PastState() extends Bundle {
    /** The argument. */
    val bisect = Bool()
    /** The train that goes or went last has 2 to the power of this, and so many of its segments have gone. */
    val train = UInt(3 bits)
    val position = UInt(6 bits)
    /** Its output gaps that are known, ns: how many, and their sum. */
    val count = UInt(5 bits)
    val sum = UInt(sumBits bits)
    /** (1 + theta) times the sum of its input gaps. It is one event late. */
    val limit = UInt(sumBits bits)
    /** The input gap of the train, or of the next one; the result. ns */
    val gap = UInt(gapBits bits)
    /** The largest gap that was too small; the smallest that was not. Zero: none. */
    val low, high = UInt(gapBits bits)
    /** The train has its verdict; the result is known; the estimate is made, or there will be none. */
    val judged, done, over = Bool()
  }
}
