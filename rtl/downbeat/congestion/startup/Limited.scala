// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Limited slow start (RFC 3742) with max_ssthresh = 100 SMSS, its recommendation.
  *
  * On an ACK of N new bytes: while cwnd <= max_ssthresh as slow start; beyond, cwnd += SMSS / K with
  * K = int(cwnd / (max_ssthresh / 2)), so about max_ssthresh / 2 in a round trip.
  *
  * No division: the policy state holds K SMSS and the window from which K is one more. credit += min(N, SMSS); if credit >= K SMSS:
  * credit -= K SMSS, cwnd += SMSS. K goes up by one at most for an event; it is 2 as the connection is made and after a loss, from which
  * on it takes some ACKs to reach a large window's again.
  *
  * Departs from the RFC: whole segments after K ACKs in the place of int(SMSS / K) bytes with each, and nothing rounded away.
  */
object Limited extends StartupPolicy {
  val name = "limited"
  /** Bytes: credit, K SMSS, and the window at which K goes up; 32 each. */
  val stateBits = 96

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(compare, add, choose, answer) = pipe.nodes
    def part(node: Node, index: Int): UInt = node(pipe.policyState)(32 * index, 32 bits).asUInt
    def segment(node: Node): UInt = node(pipe.event).segmentSize.resize(32)
    def cwnd(node: Node): UInt = node(pipe.window).cwnd(47 downto 16)

    val slowStart = new SlowStart(pipe)
    val half = compare.insert((segment(compare) |<< 5) + (segment(compare) |<< 4) + (segment(compare) |<< 1)) // max_ssthresh / 2: 50 SMSS
    val rises = compare.insert(cwnd(compare) >= part(compare, 2))
    val whole = compare.insert(compare(pipe.event).ackedBytes >= segment(compare))

    val spent = add.insert(part(add, 1) + (add(rises) ? segment(add) | U(0, 32 bits)))
    val bound = add.insert(part(add, 2) + (add(rises) ? add(half) | U(0, 32 bits)))
    val credit = add.insert(part(add, 0) + (add(whole) ? segment(add) | add(pipe.event).ackedBytes))
    val firstBound = add.insert(add(half) + (add(half) |<< 1))
    val small = add.insert(add(pipe.window).cwnd <= Window.ofBytes(add(half) |<< 1))

    val remaining = choose.insert((choose(credit) -^ choose(spent)).asSInt)
    val grown = choose.insert(choose(pipe.window).cwnd + Window.ofBytes(segment(choose)))
    val kind = choose(pipe.event).kind
    val limits = choose.insert(kind === CongestionEventKind.acknowledged && choose(pipe.event).startingUp && !choose(small))
    val begins = choose.insert(
      kind === CongestionEventKind.established || kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)

    val due = !answer(remaining).msb
    val result = Payload(PolicyAnswer(stateBits))
    answer(result).window := slowStart.window
    answer(result).policyState := answer(pipe.policyState)
    when(answer(limits)) {
      answer(result).window.cwnd := due ? answer(grown) | answer(pipe.window).cwnd
      answer(result).policyState := answer(bound) ## answer(spent) ## (due ? answer(remaining).asUInt.resize(32) | answer(credit))
    }
    when(answer(begins))(answer(result).policyState := answer(firstBound) ## (segment(answer) |<< 1) ## B(0, 32 bits))
    result
  }
}
