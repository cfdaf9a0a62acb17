// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The windows of slow start (RFC 5681 3.1), for all start-up policies that grow so.
  *
  * On `established`: cwnd = initial window x SMSS, ssthresh = the connection's initial ssthresh.
  * On `restart`: cwnd = min(cwnd, initial window x SMSS) (RFC 5681 4.1). ssthresh stays.
  * On an ACK of N new bytes while cwnd < ssthresh: cwnd += min(N, SMSS).
  *
  * @param atMost    bytes that replace SMSS as the bound; known on the first node
  * @param quartered a quarter of the growth is taken; known on the second node
  */
class SlowStart(
    pipe: PolicyPipe, atMost: Option[Payload[UInt]] = None, quartered: Option[Payload[Bool]] = None) extends Area {
  import pipe._

  private val bound = new s0.Area {
    val max = insert(atMost.fold(event.segmentSize)(apply(_)).resize(20))
    val holds = insert(event.ackedBytes >= max)
    val initial = insert(event.initialWindow * event.segmentSize)
  }
  /** The connection's initial window, bytes, from the first node on. */
  val initial: Payload[UInt] = bound.initial

  private val count = new s1.Area {
    private val bytes = Window.ofBytes(Mux[UInt](bound.holds, bound.max.resize(32), event.ackedBytes))
    val aboveInitial = insert(Window.ofBytes(bound.initial) < window.cwnd)
    val increase = insert(quartered.fold(bytes)(_ ? (bytes |>> 2) | bytes))
  }

  private val grow = new s2.Area {
    val opens = insert(event.kind === CongestionEventKind.established)
    val shrinks = insert(event.kind === CongestionEventKind.restart && count.aboveInitial)
    val acknowledges = insert(event.kind === CongestionEventKind.acknowledged)
    val cwnd = insert(window.cwnd + count.increase)
  }

  private val decide = new s3.Area {
    val after = CombInit[Window](window).allowOverride()
    when(grow.opens) {
      after.cwnd := Window.ofBytes(initial)
      after.ssthresh := Window.ofBytes(event.initialSsthresh)
    }
    when(grow.shrinks)(after.cwnd := Window.ofBytes(initial))
    when(grow.acknowledges)(after.cwnd := grow.cwnd)
  }
  /** On the last node. */
  val windowAfter: Window = decide.after
}
