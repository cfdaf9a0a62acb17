// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Output gaps of a train of Paced Start, and the verdict when all are known: out > (1 + theta) in is too small. */
class PastGaps(pipe: PolicyPipe, before: Payload[PastState]) extends Area {
  import PastState._
  import pipe._

  private val add = new s0.Area {
    private def half(a: UInt, b: UInt) = insert(((a +^ b) >> 1).resize(gapBits))
    val sum = insert(before.sum + event.probe.arrivalGap)
    val count = insert(before.count + 1)
    val lower = half(before.low, before.gap)
    val upper = half(before.high, before.gap)
    val twice = insert(doubled(before.gap))
    val tripled = insert(before.gap +^ (before.gap << 1))
    val size = insert(sizeOf(before.train))
  }
  private val compare = new s1.Area {
    val complete = insert(add.count === (add.size - 1).resize(5))
    val saturated = insert(before.limit < add.sum)
    val scaled = insert(before.gap.resize(sumBits) + (add.tripled >> 6).resize(sumBits))
    // A gap above a round trip is a timer of the receiver's.
    val known = insert(event.probe.arrivalGap.orR && !event.probe.arrivalGap.andR &&
      !(event.rttMinimum < event.probe.arrivalGap))
  }
  private val judge = new s2.Area {
    val limit = insert((compare.scaled |<< before.train) - compare.scaled)
    val gap = insert {
      val gap = CombInit[UInt](add.lower)
      when(compare.saturated)(gap := Mux[UInt](before.high.orR, add.upper, add.twice))
      gap
    }
    val isLast = insert(before.train === last)
  }
  /** With the gap of this event all of the train are known; from the second node on. */
  val complete: Payload[Bool] = compare.complete
  /** The output gap is neither zero nor all ones, and at most R; from the second node on. */
  val known: Payload[Bool] = compare.known
  /** (1 + theta) times the sum of the train's input gaps, from the third node on. */
  val limit: Payload[UInt] = judge.limit

  /** On the last node, as the next two: another output gap. */
  def addTo(after: PastState): Unit = new s3.Area {
    after.sum := add.sum
    after.count := add.count
  }

  /** The first train left back to back: its output gap g1 is too small, and the next one has 2 g1. */
  def judgeFirst(after: PastState): Unit = new s3.Area {
    after.judged := True
    after.low := event.probe.arrivalGap
    after.gap := doubled(event.probe.arrivalGap)
  }

  /** A later train: low = in or high = in, and the next gap; the last one, or the first that finds the path free, ends
    * the search.
    */
  def judgeLater(after: PastState): Unit = new s3.Area {
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
}

/** The place of the next segment in its train. */
class PastTrain(pipe: PolicyPipe, before: Payload[PastState]) extends Area {
  import PastState._
  import pipe._

  private val read = new s0.Area {
    val size = insert(sizeOf(before.train))
  }
  private val compare = new s1.Area {
    val full = insert(before.position === read.size)
    val next = insert(before.position + 1)
  }
  private val judge = new s2.Area {
    private val sends = event.kind === CongestionEventKind.sent
    val isLast = insert(before.train === last)
    val moves = insert(sends && compare.full)
    val advances = insert(sends && !compare.full && event.sentProbe)
    val overtakes = insert(
      event.kind === CongestionEventKind.acknowledged && !event.probe.answered && compare.full && before.train === last)
  }

  /** On the last node. The next train begins when a segment leaves after the whole train before. Without a verdict of
    * the first train there is no estimate. The train of 32 is the last: an ACK of another segment overtakes its verdict.
    */
  def advance(after: PastState): Unit = new s3.Area {
    when(judge.moves && !before.done) {
      when(before.train === 1 && !before.judged)(after.over := True)
      when(!judge.isLast) {
        after.train := before.train + 1
        after.position := event.sentProbe.asUInt.resized
        after.judged := False
      }
    }
    when(judge.advances)(after.position := compare.next)
    when(judge.overtakes && !before.done) {
      after.done := True
      when(before.high.orR)(after.gap := before.high)
    }
  }
}
