// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** SSIPP: slow start with inverted packet pairs (Yu, thesis, Algorithms 1 and 2).
  *
  * A receiver that delays ACKs answers at once what comes out of order and what fills a hole. Sent in the order n + 1, n a pair brings two
  * ACKs, so the window doubles in each round trip as if none were delayed.
  *
  * On an ACK of N new bytes: cwnd += min(N, SMSS). On the ACK of a pair's first half (`paired`): cwnd += SMSS, and of what is acknowledged
  * next the first SMSS bytes bring nothing: so a pair's two ACKs bring two segments, and a receiver that divides them no more. The first segment goes
  * alone; all others in inverted pairs while cwnd < ssthresh, until the first loss or timeout. A pair needs two full segments of data and
  * the peer's window for both, but cwnd only for one: the second half may follow with the next ACK.
  *
  * Departs from the thesis: what limited transmit sends goes in pairs as well; an ACK that covers less than a segment grows the window by
  * what it covers (ns-2 counts ACKs).
  */
object Ssipp extends StartupPolicy {
  val name = "ssipp"
  /** The first segment has gone; something was lost; 16 bits of bytes that have grown the window and are not acknowledged yet. */
  val stateBits = 18
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(subtract, compare, add, answer) = pipe.nodes
    val slowStart = new SlowStart(pipe)
    val segment = subtract.insert(subtract(pipe.event).segmentSize.resize(32))
    def ahead(node: Node): UInt = node(pipe.policyState)(2, 16 bits).asUInt

    val beyond = subtract.insert((subtract(pipe.event).ackedBytes -^ ahead(subtract).resize(32)).asSInt)
    val left = subtract.insert((ahead(subtract).resize(32) -^ subtract(pipe.event).ackedBytes).asSInt)

    val counted = compare.insert(compare(beyond).msb ? U(0, 32 bits) | compare(beyond).asUInt.resize(32))
    val paired = compare.insert(compare(pipe.event).kind === CongestionEventKind.paired)
    val whole = compare.insert(compare(paired) || !(compare(beyond) < compare(segment).resize(33).asSInt))
    val grows = compare.insert(compare(paired) || compare(pipe.event).kind === CongestionEventKind.acknowledged)

    val grown = add.insert(add(pipe.window).cwnd + Window.ofBytes(add(whole) ? add(segment) | add(counted)))

    val kind = answer(pipe.event).kind
    val opens = kind === CongestionEventKind.established
    val loses = kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout
    val begun = !opens && (answer(pipe.policyState)(0) || kind === CongestionEventKind.sent)
    val lost = !opens && (answer(pipe.policyState)(1) || loses)
    val aheadAfter = CombInit(ahead(answer))
    when(kind === CongestionEventKind.acknowledged)(aheadAfter := answer(left).msb ? U(0, 16 bits) | answer(left).asUInt.resize(16))
    when(answer(paired) && answer(pipe.event).startingUp)(aheadAfter := answer(segment).resized)
    when(opens || loses)(aheadAfter := 0)

    val result = Payload(PolicyAnswer(stateBits, paces))
    answer(result).window := slowStart.window
    when(answer(grows))(answer(result).window.cwnd := answer(grown))
    answer(result).policyState := aheadAfter ## lost ## begun
    answer(result).departure := DeparturePlan.configured
    answer(result).departure.inverted.allowOverride() := begun && !lost && answer(pipe.event).startingUp
    result
  }
}
