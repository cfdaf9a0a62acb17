// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.{ConnectionTimes, EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A connection's state of keep-alive. Times are in units of 2^30 ns (1.07 s). */
case class KeepAliveState() extends Bundle {
  val interval = UInt(16 bits) // zero: off
  val heard = UInt(18 bits) // when the peer was last heard or probed
  val unanswered = UInt(4 bits) // probes
}

/** Keep-alive (RFC 9293 3.8.4). It is off unless the connection's parameters, or `setTimes`, give an
  * interval.
  *
  * After an interval of silence the peer is probed by an ACK of SND.NXT-1, which it must answer because it is
  * unacceptable. Nine unanswered probes 75 s apart end the connection. While data is outstanding, retransmission finds
  * out whether the peer is there.
  */
class KeepAlive(val view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import verdict.{peerSyn, segment}
  private val maxProbes = 9
  private val betweenProbes = U(69, 16 bits) // 75 s with the unit that has begun
  private def mayProbe(state: SpinalEnumCraft[TcpState.type]): Bool =
    Seq(TcpState.established, TcpState.finWait2, TcpState.closeWait).map(state === _).orR

  private val silence = new s0.Area {
    val elapsed = insert(NOW.ns(47 downto 30) - before.keepAlive.heard)
    val limit = insert(Mux(before.keepAlive.unanswered.orR, betweenProbes, before.keepAlive.interval))
    val idle = insert(before.highestSent.isAt(before.unacknowledged) && mayProbe(before.state))
  }
  val timeout = new s1.Area {
    val reached = insert(kind.timer && LIVE && before.keepAlive.interval.orR && silence.limit < silence.elapsed)
    val afterLast = insert(before.keepAlive.unanswered === maxProbes)
    /** The peer has answered no probe. */
    val givesUp = insert(reached && silence.idle && afterLast)
  }
  private val request = new s2.Area {
    val isDue = insert(timeout.reached && silence.idle)
  }
  val probe = new s3.Area {
    /** A probe is due. */
    val due = insert(request.isDue && !timeout.afterLast)
    private val hears = segment.ordinary || peerSyn.taken
    val unanswered = insert(
      Mux(hears, U(0, 4 bits), Mux(due, before.keepAlive.unanswered + 1, before.keepAlive.unanswered)))
    val heard = insert(Mux(hears || timeout.reached, NOW.ns(47 downto 30), before.keepAlive.heard))
    private val changes = LIVE && KIND === EventKind.setTimes
    private val kept = Mux(changes, ConnectionTimes.of(LENGTH).keepAlive, before.keepAlive.interval)
    val interval = insert(Mux(OPENING, PARAMETERS.keepAlive, kept))
    val firstWait = insert((interval +^ U(1)).resize(17))
  }
  val timer = new s4.Area {
    /** When the next probe is due: a unit later, because one had begun. */
    val next = insert(probe.heard + Mux[UInt](probe.unanswered.orR, (betweenProbes + 1).resize(17), probe.firstWait))
    val armed = insert(probe.interval.orR && mayProbe(STATE))
  }

  val after = KeepAliveState()
  private val update = new s5.Area {
    after.interval := probe.interval
    after.heard := probe.heard
    after.unanswered := probe.unanswered
  }
}
