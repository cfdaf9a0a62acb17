// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.messages.TcpState
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What a segment means to its connection: RFC 9293 3.10.7 with RFC 5961's answers to RST, SYN and ACK.
  *
  * Differences on the first node, comparisons on the second, the verdict on the third. All differences of sequence numbers are
  * signed 32-bit values. RCV.NXT is what is in memory in order; the window ends at the edge that the peer was told.
  */
class SegmentVerdict(view: ProtocolView, timestamps: TimestampCheck, hole: UnsentHole) extends Area {
  import view._
  import signals._

  private def isZero(value: UInt): Bool = !value.orR

  // ---- differences

  private val past = s0(before)
  private val offset = s0.insert(s0(SEQUENCE).since(past.received))
  val ackOffset = s0.insert(s0(ACKNOWLEDGMENT).since(past.unacknowledged))
  private val acknowledgeable = s0.insert(s0(hole.sentInOrder).since(past.unacknowledged))
  private val end = s0.insert(s0(sequenceEnd).since(past.received))
  private val payloadOffset = s0.insert(s0(payloadEnd).since(past.received))
  /** Space from RCV.NXT on: the window. */
  val space = s0.insert(past.acknowledgments.edge.since(past.received))
  private val noSpace = s0.insert(past.acknowledgments.edge.isAt(past.received))
  private val payloadPastFin = s0.insert(past.reassembly.finSequence.isBefore(s0(payloadEnd)))
  private val ackPastWritten = s0.insert(s0(ACKNOWLEDGMENT).since(past.written))
  /** Of the number that the 4-tuple's next connection would begin with, from SND.UNA; signed. In TIME-WAIT that is SND.MAX. */
  private val nextNumber = s0.insert(s0(INITIAL_SEQUENCE).since(past.unacknowledged))
  private val windowAge = s0.insert(s0(SEQUENCE).since(past.windowSequence))
  /** The segment's window. A SYN's is never scaled, and scaling is only known after it. */
  val offered = s0.insert {
    val window = PeerWindow()
    window.field := s0(WIRE_WINDOW)
    window.scaled := past.scaling && !s0(FLAGS).syn
    window
  }
  // In bytes: that one, the last one, the largest one
  val offeredWindow = s0.insert(s0(offered).bytes(past.windowScale))
  val sendWindow = s0.insert(past.sendWindow.bytes(past.windowScale))
  val largestWindow = s0.insert(past.largestWindow.bytes(past.windowScale))

  // ---- comparisons

  private val startsAhead = s1.insert(!s1(offset).msb && !isZero(s1(offset)))
  private val endsOld = s1.insert(s1(end).msb || isZero(s1(end)))
  private val payloadIsOld = s1.insert(s1(payloadOffset).msb || isZero(s1(payloadOffset)))
  private val overruns = s1.insert(s1(space).asSInt < s1(payloadOffset).asSInt)
  private val startsWithin = s1.insert(s1(offset).asSInt < s1(space).asSInt && !s1(noSpace))
  private val startsExpected = s0.insert(past.reassembly.expected.isAt(s0(SEQUENCE)))
  /** Behind all that has come in order; what is not in memory yet counts too, for a RST may follow data at once. */
  private val startsExactly = s1.insert(isZero(s1(offset)) || s1(startsExpected))
  private val startsWithSyn = s1.insert(s1(offset).andR)
  private val ackAdvances = s1.insert(!s1(ackOffset).msb && !isZero(s1(ackOffset)))
  private val ackRepeats = s1.insert(isZero(s1(ackOffset)))
  private val ackBeyond = s1.insert(!s1(ackOffset).msb && s1(acknowledgeable) < s1(ackOffset))
  private val ackTooOld = s1.insert(s1(ackOffset).msb && (s1(ackOffset) + s1(largestWindow)).msb)
  private val nothingOutstanding = s1.insert(isZero(s1(outstanding)))
  private val ackOfFin = s1.insert(s1(before).finishing && s1(ackPastWritten) === 1 && !s1(ackOffset).msb)
  /** No ACK below SND.UNA changes the window (RFC 9293 3.10.7.4), so that SND.WL2, which is none above it, need not be kept. */
  private val windowNewer = s1.insert(!s1(windowAge).msb && !s1(ackOffset).msb)
  private val sameWindow = s1.insert(s1(offeredWindow) === s1(sendWindow))
  private val largerWindow = s1.insert(s1(largestWindow) < s1(offeredWindow))
  private val spanIsZero = s1.insert(isZero(s1(span)))
  private val hasPayload = s1.insert(s1(LENGTH).orR)
  private val pastFin = s1.insert(s1(before).reassembly.finKnown && s1(payloadPastFin))
  private val finKnown = s1.insert(s1(before).reassembly.finKnown)
  /** Part of it lies in or at our window: only then its RST, SYN and ACK count. */
  private val touches = s1.insert(!(s1(startsAhead) && s1(space).asSInt < s1(offset).asSInt) && !s1(end).msb)
  private val state = s1(before).state
  private val isInSynSent = s1.insert(state === TcpState.synSent)
  private val isInSynReceived = s1.insert(state === TcpState.synReceived)
  private val isInTimeWait = s1.insert(state === TcpState.timeWait)
  private val isInClosed = s1.insert(state === TcpState.closed)
  /** The peer may send data. */
  val receiving = s1.insert(
    Seq(TcpState.synReceived, TcpState.established, TcpState.finWait1, TcpState.finWait2).map(state === _).orR)
  private val wasAnnounced = s1.insert(s1(before).announced)
  private val nobodyReads = s1.insert(s1(before).applicationClosed)

  // ---- the verdict

  private val flags = s2(FLAGS)
  private val inSynSent = s2(isInSynSent)
  private val inSynReceived = s2(isInSynReceived)
  private val inClosed = s2(isInClosed)

  private val isOurs = s1.insert(s1(isSegment) && s1(LIVE))
  private val isInLine = s1.insert(s1(isSegment) && s1(LIVE) && !s1(isInSynSent) && !s1(isInClosed) && !s1(timestamps.missing))
  private val isAcceptable = s1.insert(s1(touches) && !s1(timestamps.outdated))
  private val segment = s2(isOurs)
  private val inLine = s2(isInLine)
  private val acceptable = s2(isAcceptable)
  private val judged = inLine && acceptable
  private val repeatsSyn = inLine && inSynReceived && s2(startsWithSyn) && flags.syn && !flags.ack && !flags.rst
  /** A SYN for the same 4-tuple that cannot be an old one ends TIME-WAIT early; sent again, it makes a connection (RFC 6191 2). Timestamps
    * keep the segments of both connections apart, ours and the peer's; without them the numbers must, and so ours too (RFC 9293 3.10.7.4).
    */
  private val laterByNumbers = s1.insert(s1(startsAhead) && !s1(nextNumber).msb)
  private val later =
    s2(timestamps.decides) ? (s2(timestamps.isLater) || s2(timestamps.isSame) && s2(startsAhead)) | s2(laterByNumbers)
  private val succeeds = segment && s2(isInTimeWait) && flags.syn && !flags.ack && !flags.rst && later
  val reopens = s2.insert(succeeds)
  private val goodAck = flags.ack && s2(ackAdvances) && !s2(ackBeyond)

  /** The other SYN-ACK of two opens that crossed (RFC 9293 3.5, figure 7): below our window by its SYN, and yet it acknowledges ours. */
  private val simultaneousOpen = inLine && inSynReceived && s2(wasAnnounced) && s2(startsWithSyn) && flags.syn && !flags.rst && goodAck

  private val answersSyn = segment && inSynSent && flags.syn && !flags.rst && (!flags.ack || goodAck)
  private val badHandshakeAck = flags.ack && !flags.rst && !goodAck &&
    (segment && inSynSent || judged && inSynReceived && !flags.syn)
  private val isWrongAck = s1.insert(s1(ackBeyond) || s1(ackTooOld))
  private val wrongAck = s2(isWrongAck)
  /** It is a plain ACK by its flags, and its number may be that of one. */
  private val mayPass = s1.insert(s1(FLAGS).ack && !s1(FLAGS).rst && !s1(FLAGS).syn && !s1(ackBeyond) && !s1(ackTooOld) &&
    !(s1(isInSynReceived) && !s1(ackAdvances)))
  private val passes = judged && s2(mayPass)
  /** Nothing is wrong with it: its ACK, its window, its data and its ECN bits count. */
  val ordinary = s2.insert(passes)

  /** It ends the connection. */
  val resets = s2.insert(judged && flags.rst && s2(startsExactly) || segment && inSynSent && flags.rst && goodAck)
  /** It is answered by a RST that takes its acknowledgment number (RFC 9293 3.10.7.1, 3.10.7.3). */
  val refused = s2.insert(badHandshakeAck || segment && inClosed && flags.ack && !flags.rst)
  /** The peer has not had our SYN-ACK. */
  val synAgain = s2.insert(repeatsSyn)
  private val unacceptable = inLine && !acceptable && !flags.rst && !repeatsSyn && !succeeds
  /** It is answered by an ACK and otherwise ignored: unacceptable, RFC 5961 3.2, 4.2 and 5.2. */
  val challenged = s2.insert(
    unacceptable || judged && flags.rst && !s2(startsExactly) || judged && flags.syn && !flags.rst && !succeeds ||
      judged && !flags.rst && !flags.syn && flags.ack && wrongAck && !inSynReceived)
  /** Data that has come before is always answered, for its ACK may have been lost; anything else is as often as the budget allows. */
  val limited = s2.insert(!(unacceptable && s2(hasPayload) && !flags.syn))
  /** The peer's SYN to our SYN; the handshake is complete. */
  val synInSynSent = s2.insert(answersSyn)
  val connects = s2.insert(answersSyn && flags.ack || passes && inSynReceived || simultaneousOpen)
  /** A SYN of the peer sets all that is received. */
  val receivesSyn = s3.insert(s3(OPENING) || s3(synInSynSent))
  val acknowledges = s2.insert(passes && s2(ackAdvances) || answersSyn && flags.ack || simultaneousOpen)
  val updatesWindow = s2.insert(passes && s2(windowNewer) || answersSyn)
  val raisesWindow = s2.insert((passes && s2(windowNewer) || answersSyn) && s2(largerWindow))
  /** RFC 5681 section 2. */
  val duplicates = s2.insert(passes && s2(ackRepeats) && s2(spanIsZero) && s2(sameWindow) && !s2(nothingOutstanding))
  /** The same for data and windows of any kind: with SACK its blocks decide. */
  val repeatsAck = s2.insert(passes && s2(ackRepeats) && !s2(nothingOutstanding))
  val acknowledgesFin = s2.insert(passes && s2(ackOfFin))

  private val carries = passes && !s2(spanIsZero)
  /** It has something new, and there is space for the beginning of that. FIN takes none; behind it nothing comes. */
  private val fits = carries && s2(receiving) && !s2(endsOld) &&
    !(s2(overruns) && (!s2(startsWithin) || s2(finKnown))) && !s2(pastFin)
  private val unwanted = s2(nobodyReads) && !s2(payloadIsOld)
  /** What is new of its payload and FIN, as far as there is space, is taken: `skip` bytes later, and not the last `cut`. */
  val accepted = s2.insert(fits && !unwanted)
  val takesFin = s2.insert(fits && !unwanted && flags.fin && !s2(overruns))
  val skip = s2.insert(s2(offset).msb ? (U(0, 14 bits) - s2(offset).resize(14)) | U(0, 14 bits))
  private val overhang = s1.insert((s1(payloadOffset) - s1(space)).resize(14))
  val cut = s2.insert(s2(overruns) ? s2(overhang) | U(0, 14 bits))
  /** Data for an application that has gone (RFC 1122 4.2.2.13). */
  val unwelcome = s2.insert(fits && unwanted)
  /** It took sequence space that was not accepted: old, behind the FIN, no space. */
  val rejected = s2.insert(carries && !fits)
}
