// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What a segment means to its connection: RFC 9293 3.10.7 with RFC 5961's answers to RST and SYN.
  *
  * While the connection is read, what the event itself says (nodes `address` and `fetched`); then differences on the first node, comparisons on
  * the second, the verdict on the third. All differences of sequence numbers are signed 32-bit values.
  */
class SegmentVerdict(
    config: DownbeatConfig, signals: Signals, before: Payload[ProtocolState],
    address: Node, fetched: Node, s0: Node, s1: Node, s2: Node)
    extends Area {
  import signals._

  private def isZero(value: UInt): Bool = !value.orR

  // ---- the event by itself

  /** Sequence space that the event takes: payload, FIN, and in `sent` SYN. */
  val span = address.insert(
    address(LENGTH).resize(15) + address(FLAGS).fin.asUInt + (address(FLAGS).syn && address(KIND) === EventKind.sent).asUInt)
  /** One past the segment's last sequence number, and one past its payload's. */
  val sequenceEnd = fetched.insert(fetched(SEQUENCE) + fetched(span))
  private val payloadTo = fetched.insert(fetched(SEQUENCE) + fetched(LENGTH))

  // ---- differences

  private val past = s0(before)
  private val offset = s0.insert(s0(SEQUENCE).since(past.expected))
  val ackOffset = s0.insert(s0(ACKNOWLEDGMENT).since(past.unacknowledged))
  val outstanding = s0.insert(past.highestSent.since(past.unacknowledged))
  private val end = s0.insert(s0(sequenceEnd).since(past.expected))
  private val payloadEnd = s0.insert(s0(payloadTo).since(past.expected))
  /** Room from `expected` on. */
  private val space = s0.insert((past.consumed + U(config.receiveBufferBytes, 32 bits)).since(past.expected))
  private val ackPastWritten = s0.insert(s0(ACKNOWLEDGMENT).since(past.written))
  private val windowAge = s0.insert(s0(SEQUENCE).since(past.windowSequence))
  private val windowAckAge = s0.insert(s0(ACKNOWLEDGMENT).since(past.windowAcknowledgment))
  private val isSegment = s0.insert(s0(KIND) === EventKind.segment)
  /** The segment's window in bytes. A SYN's is never scaled, and scaling is only known after it. */
  val offeredWindow = s0.insert(past.scaling ? (s0(WIRE_WINDOW).resize(32) |<< past.windowScale) | s0(WIRE_WINDOW).resize(32))

  // ---- comparisons

  private val startsAhead = s1.insert(!s1(offset).msb && !isZero(s1(offset)))
  private val endsAtExpected = s1.insert(isZero(s1(end)))
  private val lacksSpace = s1.insert(s1(space) < s1(payloadEnd))
  private val startsExactly = s1.insert(isZero(s1(offset)))
  private val ackAdvances = s1.insert(!s1(ackOffset).msb && !isZero(s1(ackOffset)))
  private val ackRepeats = s1.insert(isZero(s1(ackOffset)))
  private val ackBeyond = s1.insert(!s1(ackOffset).msb && s1(outstanding) < s1(ackOffset))
  private val nothingOutstanding = s1.insert(isZero(s1(outstanding)))
  private val ackOfFin = s1.insert(s1(before).finishing && s1(ackPastWritten) === 1)
  private val windowNewer = s1.insert(!s1(windowAge).msb && !(isZero(s1(windowAge)) && s1(windowAckAge).msb))
  private val sameWindow = s1.insert(s1(offeredWindow) === s1(before).sendWindow)
  private val spanIsZero = s1.insert(isZero(s1(span)))
  /** Part of it lies in or at our window: only then its RST, SYN and ACK count. */
  private val touches = s1.insert(!(s1(startsAhead) && s1(space) < s1(offset)) && !s1(end).msb)
  private val state = s1(before).state
  private val isInSynSent = s1.insert(state === TcpState.synSent)
  private val isInSynReceived = s1.insert(state === TcpState.synReceived)
  private val isInClosed = s1.insert(state === TcpState.closed)
  private val receiving = s1.insert(
    Seq(TcpState.synReceived, TcpState.established, TcpState.finWait1, TcpState.finWait2).map(state === _).orR)
  private val nobodyReads = s1.insert(s1(before).applicationClosed && s1(LENGTH).orR)

  // ---- the verdict

  private val old = s2(before)
  private val flags = s2(FLAGS)
  private val inSynSent = s2(isInSynSent)
  private val inSynReceived = s2(isInSynReceived)
  private val inClosed = s2(isInClosed)

  private val segment = s2(isSegment) && s2(LIVE)
  private val inLine = segment && !inSynSent && !inClosed
  private val judged = inLine && s2(touches)
  private val goodAck = flags.ack && s2(ackAdvances) && !s2(ackBeyond)

  private val answersSyn = segment && inSynSent && flags.syn && !flags.rst && (!flags.ack || goodAck)
  private val badHandshakeAck = flags.ack && !flags.rst && !goodAck &&
    (segment && inSynSent || judged && inSynReceived && !flags.syn)
  private val ordinary = judged && !flags.rst && !flags.syn && flags.ack && !s2(ackBeyond) && !(inSynReceived && !s2(ackAdvances))

  /** It ends the connection. */
  val resets = s2.insert(judged && flags.rst && s2(startsExactly) || segment && inSynSent && flags.rst && goodAck)
  /** It is answered by a RST that takes its acknowledgment number (RFC 9293 3.10.7.1, 3.10.7.3). */
  val refused = s2.insert(badHandshakeAck || segment && inClosed && flags.ack && !flags.rst)
  /** It is answered by an ACK and otherwise ignored: unacceptable, RFC 5961 3.2 and 4.2, ACK of what was never sent. */
  val challenged = s2.insert(
    inLine && !s2(touches) && !flags.rst ||
      judged && flags.rst && !s2(startsExactly) || judged && flags.syn && !flags.rst ||
      judged && !flags.rst && !flags.syn && flags.ack && s2(ackBeyond) && !inSynReceived)
  /** The peer's SYN to our SYN; the handshake is complete. */
  val brings = s2.insert(answersSyn)
  val connects = s2.insert(answersSyn && flags.ack || ordinary && inSynReceived)
  val acknowledges = s2.insert(ordinary && s2(ackAdvances) || answersSyn && flags.ack)
  val updatesWindow = s2.insert(ordinary && s2(windowNewer) || answersSyn)
  /** RFC 5681 section 2. */
  val duplicates = s2.insert(ordinary && s2(ackRepeats) && s2(spanIsZero) && s2(sameWindow) && !s2(nothingOutstanding))
  val repeats = s2.insert(ordinary && s2(ackRepeats) && !s2(nothingOutstanding))
  val acknowledgesFin = s2.insert(ordinary && s2(ackOfFin))

  private val carries = ordinary && !s2(spanIsZero)
  /** In order, new, and there is room. FIN takes none. */
  private val fits =
    carries && s2(receiving) && !old.finExpected && !s2(startsAhead) && !s2(endsAtExpected) && !s2(lacksSpace)
  /** Its payload and FIN are taken, from byte `skip` on. */
  val accepted = s2.insert(fits && !s2(nobodyReads))
  val skip = s2.insert(s2(offset).msb ? (U(0, 14 bits) - s2(offset).resize(14)) | U(0, 14 bits))
  /** Data for an application that has gone (RFC 1122 4.2.2.13). */
  val unwelcome = s2.insert(fits && s2(nobodyReads))
  /** It took sequence space that was not accepted: old, out of order, no room. */
  val rejected = s2.insert(carries && !fits)
}
