// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LossIntervals, LossIntervalsResponse, LossIntervalsRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What Carson keeps. All zeros but the argument is the beginning. */
case class CarsonState() extends Bundle {
  /** The argument: a fast drop of the interval is unsteady too. */
  val fastDrop = Bool()
  val credit = UInt(AdditiveIncrease.creditBits bits)
  /** Of the table, from zero. */
  val row = UInt(2 bits)
  /** Of the newest interval in the history, how many there are, and their weighted mean: packets with 8 fraction bits. */
  val place = UInt(5 bits)
  val count = UInt(6 bits)
  val mean = UInt(28 bits)
  /** An interval, in bytes, that is to go into the history. */
  val pending = Bool()
  val interval = UInt(32 bits)
  /** Bytes acknowledged since the last loss event. */
  val acked = UInt(32 bits)
  /** Bytes to be acknowledged until the round ends; rounds since the last loss event; so many without a loss are unsteady. */
  val left = UInt(32 bits)
  val rounds, limit = UInt(16 bits)
  val armed = Bool()
  /** There was a loss event. */
  val seen = Bool()
  /** A new row has begun with it: its a and b and the old row's share the interval. */
  val mixed = Bool()
}

/** TCP Carson (Kannan, thesis, WPI 2002, chapters 4 and 5): AIMD(a, b) whose a and b step from Reno's towards smoother ones while the loss
  * intervals are steady, and back at once when they are not.
  *
  * Rows (a, b), thesis table 5.1: (1, 0.5), (0.75, 0.4), (0.25, 0.25), (0.148, 0.125). Growth and decrease are those of [[AdditiveIncrease]] and
  * [[MultiplicativeDecrease]]. A loss is answered by the row that it finds; if it then turns out to be steady, the milder b of the next row takes
  * the place of that one's (the thesis's receiver tells the interval with the first duplicate ACK, before the window is cut).
  *
  * A loss event is a loss by duplicate ACKs, or a timeout when two rounds have ended since the last one (losses of one round are one event). Its
  * interval, the bytes acknowledged since the event before, goes to [[LossIntervals]], whose weighted mean over up to 32 (WALI-32) says:
  *
  *   unsteady: 100 |WALI - WALI before| > 10 WALI before, from 32 intervals on, or from 17 when row > 1: row 1, no history
  *   steady:   otherwise, with 32 intervals: one row on, the newest 16 stay
  *
  * Also unsteady: a timeout; no loss for floor(7 r / 4) rounds, r = the rounds between the last two events (4.3.3), until the next event.
  *
  * Argument, one bit: `carson_fastdrop`, ours. Unsteady also if the mean of the four newest intervals is below half of WALI; the thesis's test
  * alone takes a fall from 950 to 40 packets for steady, as no interval weighs more than 1/17.
  *
  * Departs from the thesis: the sender counts, by acknowledged bytes, what its receiver counted by round numbers in a header of its own;
  * a round is over when what was in flight at its beginning is acknowledged (as HyStart++'s), not by a timer. The limit of 7 r / 4 rounds does not
  * hold for the interval that a new row begins, nor does it come from that one: from row 2 to row 3 the rounds between losses double by the change
  * alone. An interval whose calculation is not answered before the next loss is left out.
  */
object Carson extends SteadyPolicy {
  val name = "carson"
  override val arguments: Arguments = Arguments(Seq(Argument("fastdrop", 1)))
  val stateBits = 222
  override val calculator: Option[Calculator] = Some(LossIntervals)
  private val increases = Seq(65536, 49152, 16384, 9699) // 16 fraction bits
  private val decreases = Seq(32768, 26214, 16384, 8192)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(add, judge, compare, answer) = pipe.nodes
    def state(node: Node): CarsonState = node(pipe.policyState).as(CarsonState())
    def event(node: Node): CongestionEvent = node(pipe.event)
    def told(node: Node): LossIntervalsResponse = node(pipe.calculated).response.resize(LossIntervals.responseBits).as(LossIntervalsResponse())

    val following = state(add).row.andR ? U(3, 2 bits) | (state(add).row + 1)
    val decreasing = (event(add).kind === CongestionEventKind.calculated) ? following | state(add).row
    val rowNext = add.insert(following)
    val increase = new AdditiveIncrease(pipe, Vec(increases.map(U(_, 17 bits)))(state(add).row), state(_).credit)
    val decrease = new MultiplicativeDecrease(pipe, Vec(decreases.map(U(_, 16 bits)))(decreasing))
    val milder = compare(pipe.window).ssthresh(47 downto 16) < compare(decrease.kept)

    // Rounds, and bytes since the last event.
    val news = add.insert(event(add).ackedBytes.orR)
    val reached = add.insert(event(add).ackedBytes >= state(add).left)
    val begun = add.insert(state(add).left.orR)
    val leftNext = add.insert(state(add).left - event(add).ackedBytes)
    val ackedNext = add.insert(state(add).acked +| event(add).ackedBytes)
    val roundsNext = add.insert(state(add).rounds +| U(1, 16 bits))
    val over = judge(news) && judge(reached) && judge(begun)
    val ends = judge.insert(over)
    val rounds = judge.insert(over ? judge(roundsNext) | state(judge).rounds)
    val expired = judge.insert(judge(roundsNext) >= state(judge).limit)
    val flightAfter = judge.insert((event(judge).flight -^ event(judge).ackedBytes).asSInt)
    val flightLeft = compare(flightAfter).msb ? U(0, 32 bits) | compare(flightAfter).asUInt.resize(32)
    val left = compare.insert(compare(reached) ? flightLeft | compare(leftNext))
    val sevenQuarters = compare.insert((((compare(rounds) << 3) - compare(rounds).resize(19)) >> 2).resize(17))

    // The verdict. 10 |new - old| > old is 10 new > 11 old or 10 new < 9 old.
    val tenNew = add.insert((told(add).mean << 3).resize(32) + (told(add).mean << 1).resize(32))
    val nineOld = add.insert((state(add).mean << 3).resize(32) + state(add).mean.resize(32))
    val elevenOld = judge.insert(judge(nineOld) + (state(judge).mean << 1).resize(32))
    val lower = judge.insert(judge(tenNew) < judge(nineOld))
    val count = add.insert(state(add).count(5) ? U(32, 6 bits) | (state(add).count + 1))
    val full = judge.insert(judge(count)(5))
    val checks = judge.insert(judge(count)(5) || judge(count) > 16 && state(judge).row.orR)
    val moved = compare(tenNew) > compare(elevenOld) || compare(lower)
    val unsteady = compare.insert(moved || state(compare).fastDrop && told(compare).fallen)

    val kind = event(compare).kind
    val opens = compare.insert(kind === CongestionEventKind.established)
    val grows = compare.insert(kind === CongestionEventKind.acknowledged && !event(compare).startingUp)
    val expires = compare.insert(kind === CongestionEventKind.timeout)
    val loses = compare.insert(kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)
    val separate = compare.insert(kind === CongestionEventKind.loss || compare(rounds)(15 downto 1).orR || !state(compare).seen)
    val calculates = kind === CongestionEventKind.calculated
    val expiresNow = compare(ends) && state(compare).armed && compare(expired)
    val silences = expiresNow && kind =/= CongestionEventKind.loss && kind =/= CongestionEventKind.timeout
    val silent = compare.insert(silences)
    val answered = calculates && !compare(pipe.calculated).ofStartup && state(compare).pending && !expiresNow && !compare(pipe.calculated).stale
    val mine = compare.insert(answered)
    /** One row on. */
    val advances = answered && compare(checks) && compare(full) && !state(compare).row.andR && !compare(unsteady)
    val cuts = compare.insert(compare(loses) || advances && milder)
    val parts = compare.insert(compare(loses) && compare(separate))
    val asks = compare.insert(
      !calculates && !compare(pipe.calculating) && kind =/= CongestionEventKind.established && kind =/= CongestionEventKind.timeout &&
        !silences && ((compare(loses) && compare(separate)) ? state(compare).seen | state(compare).pending))

    val next = CombInit(state(answer)).allowOverride()
    def restart(): Unit = {
      next.row := 0
      next.count := 0
      next.pending := False
    }
    when(answer(news)) {
      next.left := answer(left)
      next.acked := answer(ackedNext)
      next.rounds := answer(rounds)
    }
    when(answer(silent)) {
      restart()
      next.armed := False
    }
    when(answer(grows))(next.credit := increase.creditAfter)
    when(answer(mine)) {
      next.pending := False
      next.place := state(answer).place + 1
      next.count := answer(count)
      next.mean := told(answer).mean
      when(answer(checks)) {
        when(answer(unsteady)) {
          restart()
        } elsewhen answer(full) {
          next.row := answer(rowNext)
          when(!state(answer).row.andR) {
            next.armed := False
            next.mixed := True
          }
          next.count := 16
          next.mean := told(answer).newest
        }
      }
    }
    when(answer(loses)) {
      next.credit := 0
      when(answer(parts)) {
        next.seen := True
        next.armed := state(answer).seen && !state(answer).mixed
        next.mixed := False
        next.limit := answer(sevenQuarters).msb ? U(0xffff, 16 bits) | answer(sevenQuarters).resize(16)
        next.acked := 0
        next.rounds := 0
        next.interval := answer(ackedNext)
        next.pending := state(answer).seen
      }
      when(answer(expires))(restart())
    }
    when(answer(opens)) {
      next.assignFromBits(B(0, stateBits bits))
      next.fastDrop := state(answer).fastDrop
    }

    val request = LossIntervalsRequest()
    request.bytes := answer(parts) ? answer(ackedNext) | state(answer).interval
    request.segmentSize := event(answer).segmentSize
    request.place := state(answer).place + 1
    request.count := answer(count)

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    answer(result).window := answer(pipe.window)
    when(answer(grows))(answer(result).window.cwnd := increase.cwnd)
    when(answer(cuts))(answer(result).window.ssthresh := decrease.ssthresh)
    answer(result).policyState := next.asBits
    answer(result).calculation.valid := answer(asks)
    answer(result).calculation.operands := request.asBits
    answer(result).calculation.note := 0
    result
  }
}
