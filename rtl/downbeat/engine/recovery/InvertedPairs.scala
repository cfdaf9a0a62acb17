// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The inverted pairs in flight, which are contiguous: where the first begins and where the last ends. */
case class InvertedPairsState(config: DownbeatConfig) extends Bundle {
  val first, end = NearNumber(config.sendNumberBits)
  val any = Bool()
  /** The first pair's first half has been acknowledged. */
  val acknowledged = Bool()
}

/** Recognizes the ACK of an inverted pair's first half: it repeats the number at which the pair begins, once. It says
  * that a segment arrived and nothing of a loss (Yu, Algorithm 2, with two numbers in place of its list).
  *
  * Each event of the flow moves `first` on by at most one pair; a pair causes several events. A pair that does not
  * begin where the last one ends replaces all pairs before it. Their ACKs, if still due, then count as duplicates, one
  * each.
  */
class InvertedPairs(val view: RecoveryView) extends Area {
  import view.{before => _, _}
  import signals._

  private val place = new s0.Area {
    val before = insert(view.before.pairs)
    val start = insert(low(SequenceNumber(SEQUENCE.value - SEGMENT_SIZE)))
    val size = insert((SEGMENT_SIZE << 1).resize(17))
    val fromFirst = insert(UNACKNOWLEDGED.since(before.first))
    val endOfNew = insert(low(SEQUENCE + LENGTH))
  }
  private val before = place.before

  private val compare = new s1.Area {
    val opens = insert(LIVE && AHEAD)
    val continues = insert(before.any && place.start.low === before.end.low)
    val passed = insert(before.any && !place.fromFirst.msb && !(place.fromFirst < place.size))
    val next = insert(before.first + place.size)
    val atFirst = insert(before.any && !place.fromFirst.orR)
  }

  private val decide = new s2.Area {
    val acknowledges = insert(LIVE && REPEATED && compare.atFirst && !before.acknowledged)
    val isLast = insert(compare.next.low === before.end.low)
  }
  /** The ACK acknowledges the first half of a pair, and is no duplicate. On step 2. */
  val acknowledges: Payload[Bool] = decide.acknowledges

  /** The state after the event, on step 5; `forget` leaves none. */
  def after(forget: Bool): InvertedPairsState = {
    val state = InvertedPairsState(config)
    new s5.Area {
      state := before
      when(decide.acknowledges)(state.acknowledged := True)
      when(compare.passed) {
        state.first := compare.next
        state.any := !decide.isLast
        state.acknowledged := False
      }
      when(compare.opens) {
        state.end := place.endOfNew
        state.any := True
        when(!compare.continues || compare.passed && decide.isLast) {
          state.first := place.start
          state.acknowledged := False
        }
      }
      when(forget)(state.any := False)
    }
    state
  }
}
