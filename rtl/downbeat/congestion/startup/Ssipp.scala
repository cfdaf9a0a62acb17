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
  * On an ACK of N new bytes: cwnd += min(N, SMSS). On the ACK of a pair's first half (`paired`): cwnd += SMSS. The first segment goes
  * alone; all others in inverted pairs while cwnd < ssthresh, until the first loss or timeout. A pair needs two full segments of data and
  * the peer's window for both, but cwnd only for one: the second half may follow with the next ACK.
  *
  * Departs from the thesis: what limited transmit sends goes in pairs as well; an ACK that covers less than a segment grows the window by
  * what it covers (ns-2 counts ACKs).
  */
object Ssipp extends StartupPolicy {
  val name = "ssipp"
  /** The first segment has gone; something was lost. */
  val stateBits = 2
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val answer = pipe.last
    val slowStart = new SlowStart(pipe, pairsGrow = true)
    val kind = answer(pipe.event).kind
    val opens = kind === CongestionEventKind.established
    val begun = !opens && (answer(pipe.word)(0) || kind === CongestionEventKind.sent)
    val lost = !opens && (answer(pipe.word)(1) || kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)

    val result = Payload(PolicyAnswer(stateBits, paces))
    answer(result).window := slowStart.window
    answer(result).word := lost ## begun
    answer(result).departure := Departure.configured
    answer(result).departure.inverted.allowOverride() := begun && !lost && answer(pipe.event).startingUp
    result
  }
}
