// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What HyStart++ keeps: 145 bits. */
case class HystartState() extends Bundle {
  /** Bytes to be acknowledged until the round ends. */
  val left = UInt(32 bits)
  /** The smallest round trip of this round, of the last, and of the round that began CSS; ns, all ones: none. */
  val current, last, baseline = UInt(36 bits)
  /** Rounds that have ended in CSS. */
  val rounds = UInt(3 bits)
  /** In Conservative Slow Start; something was lost: standard slow start from now on. */
  val conservative, lost = Bool()
}

/** HyStart++ (RFC 9406), constants of its 4.3: MIN_RTT_THRESH 4 ms, MAX_RTT_THRESH 16 ms, MIN_RTT_DIVISOR 8, CSS_GROWTH_DIVISOR 4,
  * CSS_ROUNDS 5, L = 8.
  *
  * On an ACK of N new bytes: cwnd += min(N, 8 SMSS), a quarter of that in CSS. When a round's smallest round trip is above the last round's
  * by min(max(last / 8, 4 ms), 16 ms): CSS. When a round's smallest falls below that of the round that began CSS: slow start again. After
  * the fifth round in CSS, the one in which it began counted: ssthresh = cwnd. A loss ends HyStart++; slow start is then RFC 5681's.
  *
  * A round ends when what was outstanding at its beginning is acknowledged. The event has no sequence numbers and needs none: windowEnd -
  * SND.UNA is the flight that the beginning ACK left, less all bytes acknowledged since. The ACK that ends a round belongs to it. Where
  * nothing was outstanding the next ACK begins a round and ends none.
  *
  * Departs from the RFC: N_RTT_SAMPLE is 1, not 8, because the engine times one segment in a round trip (RFC 6298).
  */
object Hystart extends StartupPolicy {
  val name = "hystart"
  val stateBits = 145
  private val leastRise = 4000000
  private val mostRise = 16000000
  private val lastRound = 4

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(compare, add, judge, answer) = pipe.nodes
    def past(node: Node): HystartState = node(pipe.policyState).as(HystartState())
    def event(node: Node): CongestionEvent = node(pipe.event)

    val segment = event(compare).segmentSize.resize(20)
    val slowStart = new SlowStart(
      pipe, atMost = Some(past(compare).lost ? segment | (segment |<< 3)), quartered = Some(past(add).conservative && !past(add).lost))

    val smaller = compare.insert(event(compare).rttValid && event(compare).rtt < past(compare).current)
    val reached = compare.insert(event(compare).ackedBytes >= past(compare).left)
    val empty = compare.insert(!past(compare).left.orR)
    val leftNext = compare.insert(past(compare).left - event(compare).ackedBytes)
    val eighth = past(compare).last |>> 3
    val most = (eighth > mostRise) ? U(mostRise, 24 bits) | eighth.resize(24)
    val rise = compare.insert((eighth < leastRise) ? U(leastRise, 24 bits) | most)

    val flightAfter = add.insert(event(add).flight - event(add).ackedBytes)
    val current = add.insert(add(smaller) ? event(add).rtt | past(add).current)
    val limit = add.insert(past(add).last +^ add(rise).resize(36))

    val sampled = judge.insert(!judge(current).andR)
    val slower = judge.insert(judge(current) >= judge(limit) && !past(judge).last.andR)
    val quicker = judge.insert(judge(current) < past(judge).baseline)
    val kind = event(judge).kind
    val counts = judge.insert(kind === CongestionEventKind.acknowledged && event(judge).startingUp && !past(judge).lost)
    val opens = judge.insert(kind === CongestionEventKind.established)
    val loses = judge.insert(kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)
    val ends = judge.insert(judge(reached) && !judge(empty))
    val fifth = past(judge).rounds === lastRound && judge(ends)
    // What it does, if it counts.
    def counting(condition: Bool): Payload[Bool] = judge.insert(judge(counts) && condition)
    val endsRound = counting(judge(ends))
    val resumes = counting(past(judge).conservative && judge(sampled) && judge(quicker))
    val finishes = counting(past(judge).conservative && !(judge(sampled) && judge(quicker)) && fifth)
    val slows = counting(!past(judge).conservative && judge(sampled) && judge(slower))
    val roundsNext = judge.insert(past(judge).conservative ? (past(judge).rounds + U(judge(ends))) | U(judge(ends)).resize(3))

    val window = CombInit(slowStart.window).allowOverride()
    val next = CombInit(past(answer)).allowOverride()
    when(answer(counts)) {
      next.left := answer(reached) ? answer(flightAfter) | answer(leftNext)
      next.current := answer(current)
    }
    when(answer(slows))(next.baseline := answer(current))
    when(answer(slows) || answer(counts) && past(answer).conservative)(next.rounds := answer(roundsNext))
    next.conservative := (past(answer).conservative || answer(slows)) && !answer(resumes)
    when(answer(finishes))(window.ssthresh := slowStart.window.cwnd)
    when(answer(endsRound)) {
      next.last := answer(current)
      next.current.setAll()
    }
    when(answer(loses))(next.lost := True)
    when(answer(opens)) {
      next.assignFromBits(B(0, stateBits bits))
      next.current.setAll()
      next.last.setAll()
      next.baseline.setAll()
    }

    val result = Payload(PolicyAnswer(stateBits))
    answer(result).window := window
    answer(result).policyState := next.asBits
    result
  }
}
