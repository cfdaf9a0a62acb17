// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LogisticCalculator, LogisticRequest}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The logistic window (Iguchi, thesis, 3.1: Lotka-Volterra competition for the bandwidth; eps = 1.95, gamma = 0.9).
  *
  * On an ACK while cwnd >= ssthresh the window moves along Eq. 10 by the time since it last did ([[downbeat.calculation.LogisticUnit]]):
  * towards w* = (K + 9 A) tau / 10, up or down. The solution is exact in time, so it does not matter how often it is asked; ACKs that come during a
  * calculation only let time pass for the next one.
  *
  * Argument: K in bits 43..0 and A in bits 87..44, the bottleneck's bandwidth and what is available of it, bytes per second with 10 fraction
  * bits. tau is the connection's smallest round trip. Without K, or before the first sample of the round trip, Reno.
  *
  * Time does not count while the window is not the equation's: during start-up, in recovery, and while nothing is outstanding. A step takes 10 s at
  * most, at most doubles the window (a long gap between ACKs would cause a burst) and leaves two segments at least. ssthresh comes down with the
  * window, or start-up would take over. A loss is Reno's (3.1); a timeout leaves ssthresh = 2 SMSS, so that the equation goes on
  * from the smallest window in place of slow start.
  *
  * Departs from the thesis below ssthresh, where the start-up policy grows the window, and in the last place: it has a degree-4 polynomial.
  */
object Logistic extends SteadyPolicy {
  val name = "logistic"
  private val rateBits = 44
  private val instantBits = 48
  private def rate(name: String, least: BigInt): Argument =
    Argument(name, rateBits, fraction = 10, unit = "bytes/s", least = least, usual = BigInt(12500000) << 10)
  override val arguments: Arguments =
    Arguments(Seq(rate("K", least = 1), rate("A", least = 0)), notAbove = Seq("A" -> "K"))
  /** The argument; when the window last moved, ns; Reno's credit. */
  val stateBits: Int = argumentBits + instantBits + Reno.stateBits
  override val comparesRoundTrips = true
  override val calculator: Option[Calculator] = Some(LogisticCalculator)
  private val longest = BigInt(10000000000L)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(subtract, compare, choose, answer) = pipe.nodes
    def argument(node: Node): Bits = node(pipe.policyState)(argumentBits - 1 downto 0)
    def since(node: Node): UInt = node(pipe.policyState)(argumentBits, instantBits bits).asUInt

    val credit = subtract.insert(subtract(pipe.policyState).takeHigh(Reno.stateBits))
    val reno =
      Reno.build(new PolicyPipe(pipe.nodes, pipe.event, pipe.window, credit, pipe.now, pipe.calculating, pipe.calculated))

    // Does the equation hold: are K and tau known?
    val tau = subtract(pipe.event).rttMinimum
    val hasCapacity = subtract.insert(argument(subtract)(rateBits - 1 downto 0).orR)
    val hasRoundTrip = subtract.insert(tau.orR && !tau.andR)
    val holds = compare.insert(compare(hasCapacity) && compare(hasRoundTrip))

    // How long it is to go on for.
    val elapsed = subtract.insert(subtract(pipe.now).ns - since(subtract))
    val tooLong = compare.insert(compare(elapsed) > longest)
    val step = choose.insert(choose(tooLong) ? U(longest, 34 bits) | choose(elapsed).resize(34))

    // What became of the window, bounded.
    val calculated = subtract(pipe.calculated).response(47 downto 0).asUInt
    val twice = (subtract(pipe.window).cwnd << 1).resize(48)
    val tooFast = subtract.insert(twice < calculated)
    val limited = compare.insert(
      compare(tooFast) ? (compare(pipe.window).cwnd |<< 1) | compare(pipe.calculated).response(47 downto 0).asUInt)
    val floor = compare.insert(Window.ofBytes(compare(pipe.event).segmentSize << 1))
    val tooSmall = choose.insert(choose(limited) < choose(floor))
    val floorIsHigher = subtract.insert(
      subtract(pipe.window).ssthresh < Window.ofBytes(subtract(pipe.event).segmentSize << 1))
    val threshold = compare.insert(compare(floorIsHigher) ? compare(floor) | compare(pipe.window).ssthresh)
    /** Below the floor or below ssthresh. */
    val lowers = choose.insert(choose(limited) < choose(threshold))

    // What the event is.
    val kinds = CongestionEventKind
    val kind = choose(pipe.event).kind
    val follows = kind === kinds.acknowledged && !choose(pipe.event).startingUp && choose(holds)
    val grows = choose.insert(follows)
    val timesOut = choose.insert(kind === kinds.timeout && choose(holds))
    val comes = choose.insert(kind === kinds.calculated && !choose(pipe.calculated).ofStartup && !choose(pipe.calculated).stale)
    val asks = choose.insert(follows && !choose(pipe.calculating))
    val resumes = kind === kinds.sent && choose(pipe.event).flight === 0
    val another = kind =/= kinds.none && kind =/= kinds.sent && kind =/= kinds.paired && kind =/= kinds.calculated
    val restarts = choose.insert(resumes || another && !follows)

    val result = Payload(PolicyAnswer(stateBits, requestBits = requestBits))
    answer(result).window := answer(reno).window
    val moved = UInt(instantBits bits)
    moved := since(answer)
    val left = Bits(Reno.stateBits bits)
    left := answer(reno).policyState
    when(answer(restarts))(moved := answer(pipe.now).ns)
    when(answer(grows)) {
      answer(result).window := answer(pipe.window)
      left := 0
    }
    when(answer(timesOut))(answer(result).window.ssthresh := answer(floor))
    when(answer(comes)) {
      val window = answer(tooSmall) ? answer(floor) | answer(limited)
      answer(result).window.cwnd := window
      when(answer(lowers))(answer(result).window.ssthresh := window)
      moved := answer(pipe.calculated).note.asUInt
    }
    answer(result).policyState := left ## moved ## argument(answer)

    val request = LogisticRequest()
    request.capacity := argument(answer)(rateBits - 1 downto 0).asUInt
    request.available := argument(answer)(rateBits, rateBits bits).asUInt
    request.roundTrip := answer(pipe.event).rttMinimum
    request.elapsed := answer(step)
    request.window := answer(pipe.window).cwnd
    answer(result).calculation.valid := answer(asks)
    answer(result).calculation.operands := request.asBits
    answer(result).calculation.note := answer(pipe.now).ns.asBits
    result
  }
}
