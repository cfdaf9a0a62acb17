// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The windows of slow start (RFC 5681 3.1), for all start-up policies that grow so.
  *
  * On `established`: cwnd = initial window x SMSS, ssthresh = the connection's initial ssthresh.
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, SMSS).
  *
  * Variants put another bound, in bytes, known on the first node, in the place of SMSS (`atMost`), and take a quarter of the growth where
  * `quartered`, known on the second.
  */
class SlowStart(pipe: PolicyPipe, atMost: Option[UInt] = None, quartered: Option[Bool] = None) extends Area {
  private val Seq(compare, add, choose, answer) = pipe.nodes

  private val most = compare.insert(atMost.getOrElse(compare(pipe.event).segmentSize).resize(20))
  /** The connection's initial window, bytes; known on the second node. */
  val initial = compare.insert(compare(pipe.event).initialWindow * compare(pipe.event).segmentSize)
  private val bounded = compare.insert(compare(pipe.event).ackedBytes >= compare(most))

  private val counted = add(bounded) ? add(most).resize(32) | add(pipe.event).ackedBytes
  private val increment = add.insert(quartered.fold(Window.ofBytes(counted))(_ ? (Window.ofBytes(counted) |>> 2) | Window.ofBytes(counted)))

  private val opens = choose.insert(choose(pipe.event).kind === CongestionEventKind.established)
  private val grows = choose.insert(choose(pipe.event).kind === CongestionEventKind.acknowledged)
  private val grown = choose.insert(choose(pipe.window).cwnd + choose(increment))

  /** On the last node. */
  val window: Window = CombInit(answer(pipe.window)).allowOverride()
  when(answer(opens)) {
    window.cwnd := Window.ofBytes(answer(initial))
    window.ssthresh := Window.ofBytes(answer(pipe.event).initialSsthresh)
  }
  when(answer(grows))(window.cwnd := answer(grown))
}
