// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Standard slow start (RFC 5681 3.1).
  *
  * On `established`: cwnd = initial window x SMSS, ssthresh = the connection's initial ssthresh.
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, SMSS).
  */
object Standard extends StartupPolicy {
  val name = "standard"
  val stateBits = 0

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(compare, add, choose, answer) = pipe.nodes

    val initial = compare.insert(compare(pipe.event).initialWindow * compare(pipe.event).segmentSize)
    val wholeSegment = compare.insert(compare(pipe.event).ackedBytes >= compare(pipe.event).segmentSize)

    val increment = add.insert(
      add(wholeSegment) ? add(pipe.event).segmentSize.resize(32) | add(pipe.event).ackedBytes)

    val opens = choose.insert(choose(pipe.event).kind === CongestionEventKind.established)
    val grows = choose.insert(choose(pipe.event).kind === CongestionEventKind.acknowledged)
    val grown = choose.insert(choose(pipe.window).cwnd + Window.ofBytes(choose(increment)))

    val result = Payload(PolicyAnswer(stateBits))
    answer(result).word := B(0, 0 bits)
    answer(result).window := answer(pipe.window)
    when(answer(opens)) {
      answer(result).window.cwnd := Window.ofBytes(answer(initial))
      answer(result).window.ssthresh := Window.ofBytes(answer(pipe.event).initialSsthresh)
    }
    when(answer(grows)) {
      answer(result).window.cwnd := answer(grown)
    }
    result
  }
}
