// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{CubicResponse, CubicGrowth, CubicRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Where CUBIC stands in its epoch, one for each stage of congestion avoidance. */
object CubicPhase extends SpinalEnum {
  /** The next ACK in congestion avoidance begins one. */
  val waits = newElement()
  /** Begun; K is being calculated. */
  val begins = newElement()
  val grows = newElement()
}

/** What CUBIC keeps. All zeros is the beginning. Time is in ticks of 1,024 ns. */
case class CubicState() extends Bundle {
  /** W_max and cwnd_prior, bytes. */
  val wMax, cwndPrior = UInt(30 bits)
  /** t - K; before K is known t. */
  val tMinusK = SInt(31 bits)
  /** When time was last counted. */
  val last = UInt(30 bits)
  /** W_est, bytes with 16 fraction bits. */
  val estimate = UInt(46 bits)
  /** Bytes acknowledged and not accounted for. */
  val acked = UInt(30 bits)
  /** The smoothed round trip; zero: none yet. */
  val roundTrip = UInt(26 bits)
  val phase = CubicPhase()
}

/** CUBIC (RFC 9438), C = 0.4, beta = 0.7.
  *
  * In congestion avoidance each ACK adds to the bytes that are to be accounted for, and [[CubicGrowth]] is asked by how much the window grows for
  * them: (target - cwnd) / cwnd for each, target = W_cubic(t + RTT) between cwnd and 1.5 cwnd; where W_cubic(t) < W_est, cwnd = W_est (4.3; it
  * never shrinks for that). What is acknowledged while it calculates waits for the next request, 2^18 - 1 bytes at most go into one.
  *
  * An epoch begins with the first ACK of a stage of congestion avoidance: t = 0, W_est = cwnd, K from W_max and cwnd. Where cwnd is W_max or more,
  * after a timeout (4.8), and where start-up ended without a loss (4.10), K = 0 and W_max = cwnd.
  *
  * Loss (4.6, 4.7): cwnd_prior = cwnd; W_max = cwnd, or 0.85 cwnd if cwnd < W_max (fast convergence); ssthresh = max(0.7 flight, 2 SMSS). 0.3 and
  * 0.15 are rounded to 16 bits. A timeout likewise, but W_max is the next epoch's cwnd.
  *
  * Time that the application does not fill the window is no time (4.2): an ACK that finds less than half a window in flight adds neither time nor bytes,
  * and the time for which nothing was in flight is left out. RTT is an average of the engine's samples with 1/8 (RFC 6298), to 8 ticks. Nothing
  * is undone after spurious losses (4.9): the engine detects none.
  */
object Cubic extends SteadyPolicy {
  val name = "cubic"
  val stateBits = 225
  override val calculator: Option[Calculator] = Some(CubicGrowth)
  private val mostAsked = (1 << 18) - 1
  private val lost = 19661 // 0.3, 16 fraction bits
  private val converging = 9831 // 0.15

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(add, sum, compare, answer) = pipe.nodes
    def state(node: Node): CubicState = node(pipe.policyState).as(CubicState())
    def event(node: Node): CongestionEvent = node(pipe.event)
    def told(node: Node): CubicResponse = node(pipe.calculated).response.as(CubicResponse())
    def ticks(node: Node): UInt = node(pipe.now).ns(39 downto 10)
    def saturated(value: UInt, bits: Int): UInt =
      (value >> bits).orR ? U((BigInt(1) << bits) - 1, bits bits) | value.resize(bits)

    val decrease = new MultiplicativeDecrease(pipe, U(lost, 16 bits))
    val whole = add.insert(saturated(add(pipe.window).cwnd >> 16, 30))
    val fixed = add.insert(saturated(add(pipe.window).cwnd, 46))
    val smaller = MultiplicativeDecrease.remainder(sum, compare, sum(whole).resize(32), U(converging, 16 bits))
    val belowMaximum = sum.insert(sum(whole) < state(sum).wMax)

    // Round trip and time.
    val kindFirst = event(add).kind
    val opens = add.insert(kindFirst === CongestionEventKind.established)
    val deviation = add.insert((event(add).rtt(35 downto 10) -^ state(add).roundTrip).asSInt)
    val unmeasured = add.insert(!state(add).roundTrip.orR || kindFirst === CongestionEventKind.established)
    val smoothed = sum.insert((state(sum).roundTrip.resize(27).asSInt + (sum(deviation) >> 3).resize(27)).asUInt.resize(26))
    val passed = add.insert(ticks(add) - state(add).last)
    val later = sum.insert(state(sum).tMinusK.resize(32) + sum(passed).resize(32).asSInt)
    val busy = sum.insert(!((event(sum).flight << 1) < sum(pipe.window).cwnd(47 downto 16).resize(33)))

    // What is acknowledged, and what is asked of it.
    val ackedSum = add.insert(state(add).acked +^ event(add).ackedBytes)
    val ackedNext = sum.insert(saturated(sum(ackedSum), 30))
    val accounted = add.insert((state(add).acked -^ add(pipe.calculated).note(29 downto 0).asUInt).asSInt)

    // The answer.
    val grown = add.insert(add(pipe.window).cwnd + told(add).increase.resize(48))
    val estimateSum = add.insert(state(add).estimate +^ told(add).estimated)
    val estimateNext = sum.insert(saturated(sum(estimateSum), 46))
    val beyondRoot = add.insert((state(add).tMinusK - add(pipe.calculated).response(28 downto 0).asUInt.resize(31).asSInt))
    val higher = compare.insert(compare(pipe.window).cwnd < compare(estimateNext).resize(48))
    val cwndFriendly = answer(higher) ? answer(estimateNext).resize(48) | answer(pipe.window).cwnd
    val cwndAfter = told(answer).friendly ? cwndFriendly | answer(grown)

    val kind = event(compare).kind
    val acknowledges = compare.insert(kind === CongestionEventKind.acknowledged)
    val avoids = compare.insert(kind === CongestionEventKind.acknowledged && !event(compare).startingUp)
    val loses = compare.insert(kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)
    val expires = compare.insert(kind === CongestionEventKind.timeout)
    val resumes = compare.insert(kind === CongestionEventKind.sent && !event(compare).flight.orR)
    val calculates = kind === CongestionEventKind.calculated && !compare(pipe.calculated).ofStartup
    val ofRoot = !compare(pipe.calculated).note.orR
    val fresh = !compare(pipe.calculated).stale
    val rooted = compare.insert(calculates && fresh && ofRoot && state(compare).phase === CubicPhase.begins)
    val growing = calculates && !ofRoot && state(compare).phase === CubicPhase.grows
    val grows = compare.insert(growing)
    val accounts = compare.insert(growing && fresh)
    val reno = compare.insert(state(compare).estimate(45 downto 16) >= state(compare).cwndPrior)
    val most = compare.insert(saturated(compare(ackedNext), 18))
    val waits = compare.insert(state(compare).phase === CubicPhase.waits)
    val asksRoot = compare.insert((state(compare).phase === CubicPhase.waits) ? compare(belowMaximum) | (state(compare).phase === CubicPhase.begins))
    val asks = compare.insert(
      kind === CongestionEventKind.acknowledged && !event(compare).startingUp && !compare(pipe.calculating) &&
        (compare(asksRoot) || state(compare).phase === CubicPhase.grows && compare(busy) && compare(ackedNext).orR))

    val next = CombInit(state(answer)).allowOverride()
    when(event(answer).rttValid)(next.roundTrip := answer(unmeasured) ? event(answer).rtt(35 downto 10) | answer(smoothed))
    when(answer(acknowledges) || answer(resumes))(next.last := ticks(answer))
    when(answer(acknowledges) && !answer(avoids)) {
      next.phase := CubicPhase.waits
      next.acked := 0
    }
    when(answer(avoids)) {
      when(answer(busy)) {
        next.acked := answer(ackedNext)
        next.tMinusK := answer(later).sat(1)
      }
      when(state(answer).phase === CubicPhase.waits) {
        next.tMinusK := 0
        next.estimate := answer(fixed)
        next.phase := CubicPhase.begins
        when(!answer(belowMaximum)) {
          next.wMax := answer(whole)
          next.phase := CubicPhase.grows
        }
      }
    }
    when(answer(rooted)) {
      next.tMinusK := answer(beyondRoot)
      next.phase := CubicPhase.grows
    }
    when(answer(accounts)) {
      next.estimate := answer(estimateNext)
      next.acked := answer(accounted).msb ? U(0, 30 bits) | answer(accounted).asUInt.resize(30)
    }
    when(answer(loses)) {
      next.phase := CubicPhase.waits
      next.acked := 0
      next.cwndPrior := answer(whole)
      next.wMax := answer(expires) ? U(0, 30 bits) | (answer(belowMaximum) ? answer(smaller).resize(30) | answer(whole))
    }
    when(answer(opens)) {
      next.wMax := 0
      next.cwndPrior := 0
      next.tMinusK := 0
      next.estimate := 0
      next.acked := 0
      next.phase := CubicPhase.waits
      when(!event(answer).rttValid)(next.roundTrip := 0)
    }

    // It asks with an ACK in congestion avoidance, so that `next` is what that leaves.
    val request = CubicRequest()
    request.root := answer(asksRoot)
    request.reno := answer(reno)
    request.segmentSize := event(answer).segmentSize
    request.acked := answer(most)
    request.roundTrip := next.roundTrip
    request.tMinusK := answer(waits) ? S(0, 31 bits) | (answer(busy) ? answer(later).sat(1) | state(answer).tMinusK)
    request.wMax := (answer(waits) && !answer(belowMaximum)) ? answer(whole) | state(answer).wMax
    request.cwnd := answer(fixed)
    request.estimate := answer(waits) ? answer(fixed) | state(answer).estimate

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    answer(result).window := answer(pipe.window)
    when(answer(grows))(answer(result).window.cwnd := cwndAfter)
    when(answer(loses))(answer(result).window.ssthresh := decrease.ssthresh)
    answer(result).policyState := next.asBits
    answer(result).calculation.valid := answer(asks)
    answer(result).calculation.operands := request.asBits
    answer(result).calculation.note := answer(asksRoot) ? B(0, 48 bits) | answer(most).asBits.resize(48)
    result
  }
}
