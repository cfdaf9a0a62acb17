// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.messages.TcpState
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Keep-alive of a connection; times in units of 2^30 ns (1.07 s). */
case class KeepAliveState() extends Bundle {
  val interval = UInt(16 bits) // zero: off
  val heard = UInt(18 bits) // when the peer was last heard, or asked
  val unanswered = UInt(4 bits) // probes
}

/** Keep-alive (RFC 9293 3.8.4), off unless the connection's parameters give an interval.
  *
  * A peer of which nothing has come for so long is asked by an ACK of SND.NXT-1, which it must answer because it is unacceptable.
  * Nine unanswered probes 75 s apart end the connection. While data is outstanding, retransmission finds out.
  */
class KeepAlive(view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  private val past = s0(before).keepAlive
  private val probes = 9
  private val betweenProbes = U(69, 16 bits) // 75 s with the one that has begun

  private val elapsed = s0.insert(s0(NOW).ns(47 downto 30) - past.heard)
  private val limit = s0.insert(past.unanswered.orR ? betweenProbes | past.interval)
  private val idles = s0.insert(s0(before).highestSent.isAt(s0(before).unacknowledged) &&
    Seq(TcpState.established, TcpState.finWait2, TcpState.closeWait).map(s0(before).state === _).orR)
  private val reached = s1.insert(s1(isTimer) && s1(LIVE) && s1(before).keepAlive.interval.orR && s1(limit) < s1(elapsed))
  private val asks = s2.insert(s2(reached) && s2(idles))
  private val last = s1.insert(s1(before).keepAlive.unanswered === probes)
  /** Nobody answers. */
  val givesUp = s1.insert(s1(reached) && s1(idles) && s1(last))
  /** A probe is due. */
  val due = s3.insert(s3(asks) && !s3(last))

  private val interval = s4.insert(s4(OPENING) ? s4(PARAMETERS).keepAlive | s4(before).keepAlive.interval)
  private val firstWait = s3.insert((s3(before).keepAlive.interval +^ U(1)).resize(17))
  private val hears = s3(verdict.ordinary) || s3(verdict.receivesSyn)
  private val unanswered = s3.insert(
    hears ? U(0, 4 bits) | (s3(due) ? (s3(before).keepAlive.unanswered + 1) | s3(before).keepAlive.unanswered))
  private val heard = s3.insert((hears || s3(reached)) ? s3(NOW).ns(47 downto 30) | s3(before).keepAlive.heard)
  /** When the next request is due: a unit later, since one had begun. */
  val next = s4.insert(s4(heard) + (s4(unanswered).orR ? (betweenProbes + 1).resize(17) | s4(firstWait)))
  val armed = s4.insert(
    s4(before).keepAlive.interval.orR && Seq(TcpState.established, TcpState.finWait2, TcpState.closeWait).map(s4(STATE) === _).orR)

  val after = KeepAliveState()
  after.interval := s5(interval)
  after.heard := s5(heard)
  after.unanswered := s5(unanswered)
}
