// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The inverted pairs in flight, which lie one behind the other: where the first begins and where the last ends. */
case class InvertedPairsState(config: DownbeatConfig) extends Bundle {
  val first, end = NearNumber(config.sendNumberBits)
  val any = Bool()
  /** The first pair's first half has been answered. */
  val answered = Bool()
}

/** Knows the ACK that the first half of an inverted pair brings back: it repeats the number at which the pair begins, once. It says that a
  * segment arrived and nothing of a loss (Yu, Algorithm 2, with two numbers in place of its list).
  *
  * Each event of the flow moves `first` on by one pair at most; a pair brings several. A pair that does not begin where the last one ends
  * takes the place of all before it: their ACKs, if still due, then count as duplicates, one each.
  */
class InvertedPairs(
    config: DownbeatConfig, signals: Signals, before: Payload[InvertedPairsState], s0: Node, s1: Node, s2: Node, s5: Node)
    extends Area {
  import signals._
  private val past = s0(before)
  private def low(number: SequenceNumber): NearNumber = number.low(config.sendNumberBits)
  private val start = s0.insert(low(SequenceNumber(s0(SEQUENCE).value - s0(SEGMENT_SIZE))))
  private val pair = s0.insert((s0(SEGMENT_SIZE) << 1).resize(17))
  private val fromFirst = s0.insert(s0(UNACKNOWLEDGED).since(past.first))
  private val endOfNew = s0.insert(low(s0(SEQUENCE) + s0(LENGTH)))

  private val opens = s1.insert(s1(LIVE) && s1(AHEAD))
  private val extends_ = s1.insert(s1(before).any && s1(start) === s1(before).end)
  private val passed = s1.insert(s1(before).any && !s1(fromFirst).msb && !(s1(fromFirst) < s1(pair)))
  private val next = s1.insert(s1(before).first + s1(pair))
  private val atFirst = s1.insert(s1(before).any && !s1(fromFirst).orR)

  /** This ACK is the answer to the first half of a pair, and no duplicate. */
  val answers: Payload[Bool] = s2.insert(s2(LIVE) && s2(REPEATED) && s2(atFirst) && !s2(before).answered)
  private val isLast = s2.insert(s2(next) === s2(before).end)

  /** The state after the event, on step 5; `forget` leaves none. */
  def after(forget: Bool): InvertedPairsState = {
    val state = InvertedPairsState(config)
    state := s5(before)
    when(s5(answers))(state.answered := True)
    when(s5(passed)) {
      state.first := s5(next)
      state.any := !s5(isLast)
      state.answered := False
    }
    when(s5(opens)) {
      state.end := s5(endOfNew)
      state.any := True
      when(!s5(extends_) || s5(passed) && s5(isLast)) {
        state.first := s5(start)
        state.answered := False
      }
    }
    when(forget)(state.any := False)
    state
  }
}
