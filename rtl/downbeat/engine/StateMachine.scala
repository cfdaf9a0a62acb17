// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.messages.{CloseReason, EventKind, NetworkError, TcpState}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The state after an event, and why if it is the end. */
private case class Outcome() extends Bundle {
  val state = TcpState()
  val reason = CloseReason()

  def end(why: SpinalEnumElement[CloseReason.type]): Unit = {
    state := TcpState.closed
    reason := why
  }
}

/** The states of RFC 9293 3.3.2, and the reason of an end: what is no segment decides in step 2, a segment in step 3. */
class StateMachine(view: ProtocolView, verdict: SegmentVerdict, reassembly: Reassembly, keepAlive: KeepAlive) extends Area {
  import view._
  import signals._
  import verdict._

  // ---- what the event is, but for a segment

  /** Data that was accepted and not read, in memory or on its way there (RFC 2525 2.17). */
  private val hasUnread = s1.insert(
    s1(readable) =/= s1(before).reassembly.finReceived.asUInt.resize(32) || s1(reassembly.dataArrives))
  private val quotedOffset = s0.insert(s0(SEQUENCE).since(s0(before).unacknowledged))
  /** An ICMP error about a segment in flight: nobody else should know its number (RFC 5927 4.1). */
  private val believed = s1.insert(s1(LIVE) && (s1(isUnreachable) || s1(isTooBig)) && s1(quotedOffset) < s1(outstanding))
  /** RFC 6691: what the path takes does not count options. */
  val icmpErrorSize = s0.insert(s0(WIRE_WINDOW) - (s0(before).timestamps.agreed ? U(12, 16 bits) | U(0, 16 bits)))
  private val smaller = s1.insert(s1(icmpErrorSize) < s1(before).segmentSize)

  private val inClosed = s2(before).state === TcpState.closed
  private val inTimeWait = s2(before).state === TcpState.timeWait
  private val inSynSent = s2(before).state === TcpState.synSent
  private val abandoned = s1.insert(s1(LIVE) && s1(before).state =/= TcpState.closed &&
    (s1(isAbort) || s1(MEMORY_ERROR) || s1(isClose) && s1(hasUnread) && s1(before).state =/= TcpState.timeWait))
  val abandonedWithReset = s2.insert(s2(abandoned) && !inSynSent && !inTimeWait)
  /** The path takes no segments of this size (RFC 1191); none of them will ever be larger again. */
  val narrows = s2.insert(s2(believed) && s2(isTooBig) && s2(smaller) && !inSynSent)
  private val isHard = s0.insert(NetworkError.ofWindow(s0(WIRE_WINDOW)).isHard)
  /** Later than SYN-SENT nobody is believed to be gone because the network says so (RFC 5927 6). */
  private val gone = s1.insert(s1(believed) && s1(isUnreachable) && s1(isHard) && s1(before).state === TcpState.synSent)
  /** An ICMP error that the application hears of. */
  val icmpErrors = s2.insert(s2(believed) && s2(isUnreachable) && !inClosed)
  val ignored = s2.insert((s2(isUnreachable) || s2(isTooBig)) && !s2(narrows) && !s2(icmpErrors))

  private val told = Payload(Outcome())
  s2(told).state := s2(before).state
  s2(told).reason := s2(before).reason
  when(s2(reassembly.finReached)) {
    switch(s2(before).state) {
      is(TcpState.established)(s2(told).state := TcpState.closeWait)
      is(TcpState.finWait1)(s2(told).state := TcpState.closing)
      is(TcpState.finWait2)(s2(told).state := TcpState.timeWait)
    }
  }
  when(s2(LIVE)) {
    switch(s2(KIND)) {
      is(EventKind.shutdown, EventKind.close) {
        switch(s2(before).state) {
          is(TcpState.established)(s2(told).state := TcpState.finWait1)
          is(TcpState.closeWait)(s2(told).state := TcpState.lastAck)
          is(TcpState.synSent)(when(s2(isClose))(s2(told).end(CloseReason.aborted)))
        }
      }
      is(EventKind.timer) {
        when(s2(expired) && s2(before).waiting)(s2(told).end(CloseReason.finished))
        when(s2(keepAlive.givesUp))(s2(told).end(CloseReason.timedOut))
      }
      is(EventKind.failed)(when(!inClosed)(s2(told).end(CloseReason.timedOut)))
    }
  }
  when(s2(abandoned)) {
    s2(told).end(CloseReason.aborted)
    when(s2(MEMORY_ERROR))(s2(told).reason := CloseReason.memoryError)
  }
  when(s2(gone))(s2(told).end(CloseReason.unreachable))
  when(s2(OPENING)) {
    s2(told).state := s2(FRESH) ? TcpState.synReceived() | TcpState.synSent()
    s2(told).reason := CloseReason.none
  }

  // ---- a segment

  private val old = s3(before)
  private val outcome = Outcome()
  outcome := s3(told)
  when(s3(synInSynSent))(outcome.state := TcpState.synReceived)
  when(s3(connects))(outcome.state := old.finishing ? TcpState.finWait1() | TcpState.established())
  when(s3(acknowledgesFin)) {
    switch(old.state) {
      is(TcpState.finWait1)(outcome.state := TcpState.finWait2)
      is(TcpState.closing)(outcome.state := TcpState.timeWait)
      is(TcpState.lastAck)(outcome.end(CloseReason.finished))
    }
  }
  when(s3(resets)) {
    when(old.state === TcpState.synSent || old.state === TcpState.synReceived)(outcome.end(CloseReason.refused)).otherwise {
      when(old.state =/= TcpState.timeWait)(outcome.end(CloseReason.reset)) // RFC 1337: a RST does not assassinate TIME-WAIT
    }
  }
  when(s3(reopens))(outcome.end(CloseReason.finished))
  when(s3(unwelcome))(outcome.end(CloseReason.aborted))
  s3(STATE) := outcome.state
  s3(REASON) := outcome.reason
  s3(ESTABLISHED) := s3(connects)
}
