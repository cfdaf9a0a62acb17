// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Reno (RFC 5681), congestion avoidance by byte counting (RFC 3465, its `bytes_acked`) without a division.
  *
  * On an ACK of N new bytes while cwnd >= ssthresh: credit += N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS. One segment at most is added for
  * an event; what is left stays in the credit, so that nothing acknowledged is forgotten.
  * On a loss: ssthresh = max(flight / 2, 2 SMSS) (RFC 5681 equation 4) and credit = 0.
  */
object Reno extends SteadyPolicy {
  val name = "reno"
  /** The credit: bytes acknowledged and not yet turned into window. */
  val stateBits = 32

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(add, compare, choose, answer) = pipe.nodes

    val credit = add.insert(add(pipe.policyState).asUInt + add(pipe.event).ackedBytes)
    val halfFlight = add.insert(add(pipe.event).flight(31 downto 1))
    val twoSegments = add.insert(add(pipe.event).segmentSize << 1)

    // cwnd is a whole number of bytes in the comparison: a fraction makes the credit due one byte later.
    val remaining = compare.insert((compare(credit) -^ compare(pipe.window).cwnd(47 downto 16)).asSInt)
    val floorHolds = compare.insert(compare(halfFlight) < compare(twoSegments))

    val opens = choose.insert(choose(pipe.event).kind === CongestionEventKind.established)
    val grows = choose.insert(choose(pipe.event).kind === CongestionEventKind.acknowledged && !choose(pipe.event).startingUp)
    val loses = choose.insert(
      choose(pipe.event).kind === CongestionEventKind.loss || choose(pipe.event).kind === CongestionEventKind.timeout)
    val due = choose.insert(!choose(remaining).msb)
    val creditAfter = choose.insert(choose(remaining).msb ? choose(credit) | choose(remaining).asUInt.resize(32))
    val grown = choose.insert(choose(pipe.window).cwnd + Window.ofBytes(choose(pipe.event).segmentSize))
    val lossThreshold = choose.insert(choose(floorHolds) ? choose(twoSegments).resize(32) | choose(halfFlight).resize(32))

    val result = Payload(PolicyAnswer(stateBits))
    answer(result).window := answer(pipe.window)
    answer(result).policyState := answer(pipe.policyState)
    when(answer(opens)) {
      answer(result).policyState := 0
    }
    when(answer(grows)) {
      when(answer(due))(answer(result).window.cwnd := answer(grown))
      answer(result).policyState := answer(creditAfter).asBits
    }
    when(answer(loses)) {
      answer(result).window.ssthresh := Window.ofBytes(answer(lossThreshold))
      answer(result).policyState := 0
    }
    result
  }
}
