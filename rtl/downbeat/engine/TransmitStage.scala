// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEventKind, Pace}
import downbeat.messages.{Booking, EventKind, SegmentDescriptor, TcpState}
import downbeat.wire.{LaunchMode, NearNumber, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What transmit keeps of a connection. */
case class TransmitState(config: DownbeatConfig) extends Bundle {
  val nextSend = NearNumber(config.sendNumberBits) // SND.NXT
  /** A booking or its grant is on its way; a segment's `sent` has not come back. */
  val booked = Bool()
  /** The pacer knows this connection. */
  val known = Bool()
  val probing = Bool()
  val noDelay = Bool()
  /** The window was reduced: the next new data says so (RFC 3168 6.1.2). */
  val reduced = Bool()
  val lastLength = UInt(config.segmentBits bits) // payload bytes of the last segment granted
  /** The segment behind SND.NXT has gone before the one at it: the pair is inverted. */
  val inverted = config.policiesPace generate Bool()
}

/** Transmit: may the flow send, and what. It books a departure with the pacer; the grant that comes back sends one segment.
  *
  * SYN, data and FIN are one sequence space here: SYN at the initial sequence number, FIN behind the last byte written. What goes, in
  * order of preference: recovery's retransmission, SYN, new data, FIN, a probe when the timer has expired. New data is a full segment;
  * or all that is left, which waits for what is outstanding (Nagle, RFC 9293 3.7.4) unless the connection has `noDelay` or ends with it;
  * or what fits, if that is half of the largest window that the peer has ever offered (RFC 9293 3.8.6.2.1).
  * A policy may want pairs of full segments the other way round: then the second goes first, and SND.NXT stays before the first until that
  * has gone. It may want a segment to wait until there is space for several.
  * Pure ACKs, RST and the end of a flow leave here too, without a grant; an event makes one descriptor at most.
  */
class TransmitStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 4, HardType(TransmitState(config))) {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private def minimum(a: UInt, b: UInt): UInt = (a < b) ? a | b
  private def signed(length: UInt): SInt = length.resize(33).asSInt

  // ---- step 0: where to send from

  private val past = s0(before)
  private val isGrant = s0.insert(s0(LIVE) && s0(KIND) === EventKind.grant)
  private val isSent = s0.insert(s0(LIVE) && s0(KIND) === EventKind.sent && (s0(LENGTH).orR || s0(FLAGS).syn || s0(FLAGS).fin))
  /** SND.NXT - SND.UNA, signed, but where SND.NXT begins restarts: there it is SND.UNA. */
  private val sentTo = s0.insert(past.nextSend.since(s0(UNACKNOWLEDGED)))
  private val restarts = s0.insert(s0(OPENING) || s0(REWIND))
  private val resendFrom = s0.insert(s0(UNACKNOWLEDGED) + s0(RETRANSMIT_OFFSET))
  private val limitBits = config.sendOffsetBits max 16
  private val resendMost = s0.insert(minimum(s0(RETRANSMIT_LIMIT).resize(limitBits), s0(SEGMENT_SIZE).resize(limitBits)).resize(16))
  /** The first half of the pair at SND.NXT is still to go. */
  private val halfWay = s0.insert(if (config.policiesPace) past.inverted && !s0(OPENING) && !s0(REWIND) else False)
  private val inSyn = s0.insert(s0(STATE) === TcpState.synSent || s0(STATE) === TcpState.synReceived)
  private val inData = s0.insert(
    Seq(TcpState.established, TcpState.closeWait, TcpState.finWait1, TcpState.closing, TcpState.lastAck).map(s0(STATE) === _).orR)

  // ---- step 1: not below what is acknowledged; the window

  private val inOrder = s1.insert((s1(restarts) || s1(sentTo).msb) ? U(0, 32 bits) | s1(sentTo))
  private val next = s1.insert(s1(UNACKNOWLEDGED) + s1(inOrder))
  /** What is in flight. */
  private val used = s1.insert(s1(inOrder) + (s1(halfWay) ? s1(SEGMENT_SIZE) | U(0, 16 bits)))
  private val pairSize = s1.insert((s1(SEGMENT_SIZE) << 1).resize(18))
  /** What the congestion window allows in flight, by numbers: cwnd and what is in the network no more. */
  private val congestionWindow = s1.insert(s1(WINDOW).cwnd(47 downto 16) + s1(WINDOW_ALLOWANCE).resize(32))
  /** It is the narrower one; not in line with the sum. */
  private val congestionLimits = s1.insert((signed(s1(WINDOW).cwnd(47 downto 16)) + signed(s1(WINDOW_ALLOWANCE)) - signed(s1(SEND_WINDOW))).msb)
  private val resendData = s1.insert(s1(WRITTEN).since(s1(resendFrom)))
  private val resendSent = s1.insert(s1(HIGHEST_SENT).since(s1(resendFrom)))
  private val probeLimit = s1.insert(s1(SEND_WINDOW).orR ? minimum(s1(SEND_WINDOW), U(16383, 32 bits)).resize(14) | U(1, 14 bits))
  private val probing = s1.insert((s1(before).probing || s1(PROBE)) && !s1(OPENING) && !s1(isSent))

  // ---- step 2: what may go, what is left

  private val resendKnown = s2.insert(minimum(s2(resendData), s2(resendSent)))
  private val again = s2.insert(s2(next).isBefore(s2(HIGHEST_SENT)) && !s2(halfWay))
  private val idle = s2.insert(!s2(used).orR)
  private val window = s2(congestionLimits) ? s2(congestionWindow) | s2(SEND_WINDOW)
  private val space = s2.insert(window.resize(33).asSInt - s2(used).resize(33).asSInt)
  private val left = s2.insert(s2(WRITTEN).since(s2(next))) // all ones once FIN is sent
  private val second = s2.insert(s2(next) + s2(SEGMENT_SIZE))
  private val behindPair = s2.insert(s2(next) + s2(pairSize))
  private val sentBeyondData = s2.insert(s2(HIGHEST_SENT).since(s2(WRITTEN)))

  private val probeMost = s2.insert(minimum(s2(probeLimit), s2(SEGMENT_SIZE).resize(14)))

  // ---- step 3: the segment, and whether it fits

  private val nothingLeft = s3(left).msb // FIN is sent already
  private val full = s3.insert(s3(SEGMENT_SIZE).resize(32) < s3(left))
  private val whole = s3.insert(!nothingLeft && s3(SEGMENT_SIZE).resize(32) < s3(left))
  private val segment = s3.insert((s3(SEGMENT_SIZE).resize(32) < s3(left)) ? s3(SEGMENT_SIZE).resize(14) | s3(left).resize(14))
  private val probeLength = s3.insert(minimum(s3(left), s3(probeMost).resize(32)).resize(14))
  private val hasData = s3.insert(!nothingLeft && s3(left).orR)
  private val hasFin = s3.insert(!nothingLeft && s3(FINISHING))
  private val finSent = s3.insert(s3(sentBeyondData) === 1)
  private val synDue = s3.insert(s3(inSyn) && s3(next) === s3(UNACKNOWLEDGED))
  private val fitsFull = s3.insert(!(s3(space) < signed(s3(SEGMENT_SIZE).resize(14))))
  private val fitsRest = s3.insert(!(s3(space) < signed(s3(left))))
  /** Half of what the peer has at most is a segment to it. */
  private val fitsPart = s3.insert(!(s3(space) < signed(s3(LARGEST_WINDOW)(30 downto 1))) && s3(space) > 0)
  private val mayBeSmall = s3.insert(
    s3(before).noDelay || s3(idle) || s3(FINISHING) || s3(again) || s3(left) === s3(SEGMENT_SIZE).resize(32))
  private val resendLength = s3.insert(minimum(s3(resendKnown), s3(resendMost).resize(32)).resize(14))
  private val fitsFin = s3.insert(signed(s3(left)) < s3(space))

  // ---- steps 1 to 3: what a policy asks for

  private val minimumSize = s1.insert(s1(DEPARTURE).minimumSegments * s1(SEGMENT_SIZE).resize(14))
  private val peerSpace = s2.insert(s2(SEND_WINDOW).resize(33).asSInt - s2(used).resize(33).asSInt)
  private val pairWaits = s3.insert(!(s3(left) < s3(pairSize)) && !s3(left).msb && !(s3(peerSpace) < signed(s3(pairSize))))
  private val goesAhead = s4.insert(s4(DEPARTURE).inverted && s4(pairWaits) && !s4(halfWay) && !s4(again))
  private val lacksSpace = s3.insert(s3(space) < signed(s3(minimumSize)) && !(s3(left) < s3(minimumSize)))
  /** New data waits for space for more. */
  private val held = s4.insert(s4(lacksSpace) && !s4(idle) && !s4(halfWay) && !s4(again))

  // ---- step 4: decide

  private val retransmits = s4.insert(s4(inData) && (s4(RETRANSMIT) || s4(RETRANSMIT_LOST)))
  private val sendsWhole = s4.insert(s4(inData) && s4(hasData) && !s4(held) && (s4(full) ? s4(fitsFull) | (s4(fitsRest) && s4(mayBeSmall))))
  private val sendsPart = s4.insert(
    s4(inData) && s4(hasData) && s4(fitsPart) && !s4(held) && !(s4(full) ? s4(fitsFull) | s4(fitsRest)))
  private val sendsData = s4.insert(s4(sendsWhole) || s4(sendsPart))
  private val sendsFin = s4.insert(s4(inData) && s4(hasFin) && !s4(whole) && s4(fitsFin))
  private val probes = s4(probing) && s4(inData) && (s4(hasData) || s4(hasFin))
  private val wants = s4.insert(s4(retransmits) || s4(synDue) || s4(sendsData) || s4(sendsFin) || probes)
  private val granted = s4.insert(s4(isGrant) && s4(wants))
  /** What the sequence advances by, but for a FIN behind data. */
  private val newLength = s4.insert(s4(sendsWhole) ? s4(segment) | (s4(sendsPart) ? s4(space).asUInt.resize(14) | s4(probeLength)))
  private val advance = s4.insert((s4(synDue) || !s4(hasData)) ? U(1, 14 bits) | s4(newLength))
  private val advancesFin = s4.insert(!s4(synDue) && s4(hasData) && s4(sendsWhole) && s4(sendsFin))
  private val isFull = s4.insert(s4(segment) === s4(SEGMENT_SIZE).resize(14))
  private val endsData = s4.insert(!s4(whole) || s4(halfWay) && s4(left) === s4(pairSize).resize(32))
  private val resendsFin = s4.insert(s4(finSent) && s4(resendLength).resize(32) === s4(resendData))

  // ---- step 5: write

  private val outgoing = new Area {
    /** The second half of a pair, before the first. */
    val ahead = s5.insert(s5(goesAhead) && s5(sendsWhole) && !s5(retransmits) && !s5(synDue))
    val sequence = s5.insert(s5(retransmits) ? s5(resendFrom) | (s5(ahead) ? s5(second) | s5(next)))
    val length = UInt(14 bits)
    val fin = Bool()
    length := s5(hasData) ? s5(newLength) | U(0, 14 bits)
    fin := s5(hasData) ? (s5(sendsWhole) && s5(sendsFin)) | s5(hasFin)
    when(s5(synDue)) {
      length := 0
      fin := False
    }
    when(s5(retransmits)) {
      length := s5(resendLength)
      fin := s5(resendsFin)
    }
    when(s5(ahead))(fin := False)
    val LENGTH_OUT = s5.insert(length)
    val FIN_OUT = s5.insert(fin)
    val SYN_OUT = s5.insert(!s5(retransmits) && s5(synDue))
    val PUSH_OUT = s5.insert(s5(endsData))
    /** New data may be marked; it says that the window was reduced, once. */
    val isNewData = s5(ECN_CAPABLE) && !s5(retransmits) && !s5(again) && !s5(synDue) && s5(hasData)
    val ECN_OUT = s5.insert(isNewData)
    val CWR_OUT = s5.insert(s5(before).reduced)
    /** Its ACK is to be told, if it is a full segment of new data. */
    val PROBE_OUT = s5.insert(s5(DEPARTURE).probe && !s5(retransmits) && !s5(again) && s5(sendsWhole) && s5(isFull))
  }
  private val sequenceAfter = SequenceNumber()
  sequenceAfter := s5(next)
  when(s5(granted) && !s5(retransmits) && !s5(outgoing.ahead)) {
    sequenceAfter := s5(next) + s5(advance) + s5(advancesFin).asUInt
    when(s5(halfWay))(sequenceAfter := s5(behindPair))
  }
  s5(NEXT_SEND) := sequenceAfter

  /** A flow books again when nothing of it is on its way: after `sent`, or when its grant found nothing to send. */
  private val free = !s5(before).booked || s5(isSent) || s5(isGrant) && !s5(wants) || s5(OPENING)
  private val books = s5.insert((s5(LIVE) || s5(OPENING)) && free && s5(wants) && !s5(isGrant))

  private val after = TransmitState(config)
  after.nextSend := sequenceAfter.low(config.sendNumberBits)
  after.booked := s5(books) || s5(granted) || !free
  after.known := !s5(OPENING) && s5(before).known || s5(books)
  after.probing := s5(probing)
  after.noDelay := s5(OPENING) ? s5(PARAMETERS).noDelay | s5(before).noDelay
  private val reduces = s5(ECN_CAPABLE) &&
    (s5(CONGESTION_KIND) === CongestionEventKind.loss || s5(CONGESTION_KIND) === CongestionEventKind.timeout)
  after.reduced := !s5(OPENING) && (reduces || s5(before).reduced && !(s5(granted) && outgoing.isNewData))
  after.lastLength := s5(granted) ? outgoing.length.resize(config.segmentBits) | (s5(OPENING) ? U(0, config.segmentBits bits) | s5(before).lastLength)
  if (config.policiesPace)
    after.inverted := (s5(halfWay) || s5(granted) && s5(outgoing.ahead)) && !(s5(granted) && s5(halfWay) && !s5(retransmits))
  write(after, s5(LIVE) || s5(OPENING))

  // ---- exit: what leaves the engine

  private val exit = pipeline.exit
  private val first = s5.insert(s5(OPENING) || !s5(before).known)
  private val asked = s5(DEPARTURE)
  private val paced = s5.insert(asked.pace =/= Pace.configured || asked.time.orR)
  private val perByte = s5.insert(asked.pace === Pace.configured || asked.pace === Pace.spaced)
  private val adjacent = s5.insert(asked.pace === Pace.adjacent)
  private val leaves = s5.insert(s5(granted) || s5(ACK_DUE) || s5(RESET_DUE) || s5(RELEASE))
  private val returns = s5.insert(s5(granted) || s5(RESET_DUE) || s5(GIVEN_UP))
  private val previousLength = s5.insert(s5(before).lastLength.resize(14))
  /** Our window as the wire carries it: never scaled with SYN. */
  private val scale = s2.insert((s2(SCALING) && !s2(inSyn)) ? U(config.receiveWindowScale, 4 bits) | U(0, 4 bits))
  private val unscaledWindow = s2.insert(s2(RECEIVE_WINDOW) |>> s2(scale))
  private val wireWindow = s3.insert((s3(unscaledWindow) > 65535) ? U(65535, 16 bits) | s3(unscaledWindow).resize(16))

  val booking = Flow(Booking(config))
  booking.valid := exit.isValid && exit(books)
  booking.reference.flow := exit(FLOW)
  booking.reference.generation := exit(CONNECTION)
  booking.first := exit(first)
  booking.paced := exit(paced)
  booking.interval := exit(DEPARTURE).time
  booking.perByte := exit(perByte)
  booking.adjacent := exit(adjacent)
  booking.burst := exit(DEPARTURE).burst
  booking.previousLength := exit(previousLength)

  val descriptor = Flow(SegmentDescriptor(config))
  descriptor.valid := exit.isValid && exit(leaves)
  descriptor.release := exit(RELEASE)
  descriptor.reference := booking.reference
  descriptor.sequence := exit(granted) ? exit(outgoing.sequence) | exit(REPLY_SEQUENCE)
  // Without ACK it would say where the flow's last connection ended.
  descriptor.acknowledgment := SequenceNumber(descriptor.flags.ack ? exit(RECEIVED).value | U(0, 32 bits))
  descriptor.flags.assignFromBits(B(0, 8 bits))
  descriptor.flags.allowOverride()
  descriptor.flags.ack := exit(granted) ? (exit(STATE) =/= TcpState.synSent) | (exit(ACK_DUE) || exit(RESET_ACKS))
  descriptor.flags.rst := exit(RESET_DUE)
  descriptor.flags.syn := exit(granted) && exit(outgoing.SYN_OUT)
  descriptor.flags.fin := exit(granted) && exit(outgoing.FIN_OUT)
  descriptor.flags.ece := exit(ECHOES_CONGESTION) && !exit(RESET_DUE)
  descriptor.flags.cwr := exit(granted) && exit(outgoing.ECN_OUT) && exit(outgoing.CWR_OUT)
  descriptor.flags.psh := exit(granted) && exit(outgoing.PUSH_OUT) && exit(outgoing.LENGTH_OUT).orR
  descriptor.windowScaleOffered := exit(STATE) === TcpState.synSent || exit(SCALING)
  descriptor.window := exit(wireWindow)
  descriptor.urgent := exit(URGENT) && !exit(RESET_DUE) && !descriptor.flags.syn
  descriptor.urgentEnd := exit(URGENT_END).low
  descriptor.sackPermitted := exit(SELECTIVE)
  descriptor.timestamped := exit(TIMESTAMPED) && !exit(RESET_DUE)
  descriptor.timestampValue := exit(TIMESTAMP_VALUE)
  descriptor.timestampEcho := exit(TIMESTAMP_ECHO)
  descriptor.sack := exit(RECEIVED_RANGES)
  descriptor.ecnCapable := exit(granted) && exit(outgoing.ECN_OUT)
  descriptor.length := exit(granted) ? exit(outgoing.LENGTH_OUT) | U(0, 14 bits)
  descriptor.mode := exit(granted) ? exit(MODE) | LaunchMode.asap()
  descriptor.launch := exit(STAMP)
  descriptor.stamped := exit(granted)
  // RFC 3168 6.1.1: a SYN asks with ECE and CWR, a SYN-ACK grants with ECE alone.
  when(exit(ECN_CAPABLE) && descriptor.flags.syn) {
    descriptor.flags.ece := True
    descriptor.flags.cwr := exit(STATE) === TcpState.synSent
  }

  /** What this event sends has been sent before. */
  val repeats: Bool = exit(retransmits) || exit(again)

  /** `sent` for what was granted, and an empty one for a RST, so that a connection that ends with it is looked at once more. */
  val returned = Flow(ReturnEvent(config))
  returned.valid := exit.isValid && exit(returns)
  returned.failed := exit(GIVEN_UP)
  returned.reference := booking.reference
  returned.sequence := descriptor.sequence
  returned.length := descriptor.length
  returned.syn := descriptor.flags.syn
  returned.fin := descriptor.flags.fin
  returned.acknowledgment := descriptor.acknowledgment
  returned.window := descriptor.window
  returned.probe := exit(granted) && exit(outgoing.PROBE_OUT)
  returned.begins := exit(DEPARTURE).begins
}
