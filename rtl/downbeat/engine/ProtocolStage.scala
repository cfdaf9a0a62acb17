// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.messages.{FlowPosition, FlowStatus, Placement, TcpState}
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Protocol: the state machine of RFC 9293, sequence numbers, windows, and what must be acknowledged.
  *
  * Steps 0 to 2 judge the event ([[SegmentVerdict]], [[TimestampCheck]]), steps 2 and 3 decide the state ([[StateMachine]]), step 4 the new
  * values, step 5 writes. Each part owns its part of the connection's state.
  */
class ProtocolStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 0, HardType(ProtocolState(config))) {
  import signals._

  private val view = new ProtocolView(config, signals, before, address, fetched, steps)
  import view._
  private val timestampCheck = new TimestampCheck(view)
  private val hole = new UnsentHole(view)
  private val verdict = new SegmentVerdict(view, timestampCheck, hole)
  import verdict._
  private val reassembly = new Reassembly(view, verdict)
  private val acknowledgments = new Acknowledgments(view, verdict, reassembly)
  private val timestamps = new Timestamps(view, timestampCheck, verdict)
  private val congestionEcho = new CongestionEcho(view, verdict)
  private val challenges = new ChallengeLimit(view, verdict)
  private val keepAlive = new KeepAlive(view, verdict)
  private val urgency = new Urgency(view, verdict)
  private val stateMachine = new StateMachine(view, verdict, reassembly, keepAlive)
  private val softErrors = new SoftErrors(view, verdict, stateMachine)

  // ---- steps 0 and 1: which connection, which event

  private val placingNone = s0.insert(!s0(before).placing.orR)
  private val placingOne = s0.insert(s0(before).placing === 1)

  private val sentTo = s0.insert(s0(sequenceEnd).since(s0(before).highestSent)) // signed
  /** Nothing is on its way to memory once this event is done. */
  private val allPlaced = s1.insert(s1(reassembly.arrives) ? s1(placingOne) | s1(placingNone))
  private val consumedTo = s2.insert(s2(consumedBefore) + s2(LENGTH))
  private val firstWritten = s1.insert(s1(INITIAL_SEQUENCE) + U(1, 1 bits))
  /** RFC 6691: the MSS option does not count what other options take. */
  private def optionBytes(timestamped: Bool): UInt = timestamped ? U(12, 16 bits) | U(0, 16 bits)
  private val peerMss = s1.insert(s1(OPTIONS).mssValid ? s1(OPTIONS).mss | U(config.assumedPeerMss, 16 bits))

  private val sentFurther = s2.insert(s2(hasSent) && !s2(sentTo).msb)
  private val offeredMss = s2.insert((s2(peerMss) > config.ownMss) ? U(config.ownMss, 16 bits) | s2(peerMss))

  // ---- step 3: what follows from it

  private val old = s3(before)
  private def live(key: Payload[Bool]): Bool = s3(key) && s3(LIVE)
  s3(RESET_DUE) := s3(refused) || s3(stateMachine.abandonedWithReset) || s3(unwelcome)
  s3(RESET_ACKS) := !s3(refused)
  private val ackDue = s3.insert(s3(synInSynSent) && s3(connects))
  private val answers = s4.insert(s4(ackDue) || s4(acknowledgments.due) || s4(challenges.due) || s4(keepAlive.due))
  private val applicationClosed = s3.insert(!s3(OPENING) && (old.applicationClosed || live(isClose) || live(isAbort)))
  private val announced = s3.insert(s3(OPENING) ? !s3(FRESH) | (old.announced || s3(connects)))
  private val finishing = s3.insert(!s3(OPENING) && (old.finishing || live(isShutdown) || live(isClose)))

  // ---- step 4: the values

  private val was = s4(before)
  private val closed = s4(STATE) === TcpState.closed
  s4(ACK_DUE) := s4(answers) && !closed && s4(STATE) =/= TcpState.synSent
  s4(RELEASE) := s4(LIVE) && closed && (s4(applicationClosed) || !s4(announced)) && s4(allPlaced) && !s4(RESET_DUE)
  s4(ADVANCED) := s4(acknowledges)
  s4(ACKED) := s4(acknowledges) ? s4(ackOffset) | U(0, 32 bits)
  s4(DUPLICATE) := s4(duplicates)
  s4(REPEATED) := s4(repeatsAck)
  private val inFlight = s3.insert(s3(outstanding) - s3(hole.bytes))
  s4(OUTSTANDING_BEFORE) := s4(inFlight)
  s4(FINISHING) := s4(finishing)
  s4(UNACKNOWLEDGED) := s4(OPENING) ? s4(INITIAL_SEQUENCE) | select(s4(acknowledges), s4(ACKNOWLEDGMENT), was.unacknowledged)
  s4(HIGHEST_SENT) := s4(OPENING) ? select(s4(COOKIE), s4(firstWritten), s4(INITIAL_SEQUENCE)) |
    select(s4(sentFurther), s4(sequenceEnd), s4(highestSentBefore))
  s4(WRITTEN) := s4(OPENING) ? s4(firstWritten) |
    select(s4(isWritten) && s4(LIVE) && !was.finishing, s4(urgency.writtenTo), s4(writtenBefore))
  s4(SEND_WINDOW) := ((s4(OPENING) || s4(updatesWindow)) ? s4(offeredWindow) | s4(sendWindow)).resized
  s4(RESUMED) := s4(updatesWindow) && !was.sendWindow.field.orR && was.state =/= TcpState.synSent || s4(stateMachine.narrows) ||
    s4(synInSynSent) && !s4(connects) || s4(synAgain)
  private val agreedSize = s3.insert(s3(offeredMss) - optionBytes(s3(OPTIONS).timestampValid && !s3(isOpen)))
  s4(SEGMENT_SIZE) := s4(receivesSyn) ? s4(agreedSize) | (s4(stateMachine.narrows) ? s4(stateMachine.icmpErrorSize) | was.segmentSize.resize(16))
  s4(SCALING) := s4(receivesSyn) ? (s4(OPTIONS).windowScaleValid && !s4(isOpen)) | was.scaling
  s4(SELECTIVE) := s4(receivesSyn) ? (s4(OPTIONS).sackPermitted || s4(isOpen)) | was.selective
  private val consumed = s4.insert(s4(receivesSyn) ? s4(firstData) | select(s4(isConsumed) && s4(LIVE), s4(consumedTo), s4(consumedBefore)))
  private val probeSequence = s3.insert(SequenceNumber(s3(highestSentBefore).value - s3(keepAlive.due).asUInt))
  s4(REPLY_SEQUENCE) := s4(RESET_ACKS) ? s4(probeSequence) | s4(ACKNOWLEDGMENT)

  /** TIME-WAIT begins, or begins again with a segment that must be answered; an orphan's FIN-WAIT-2 likewise. */
  private val waits = s4.insert(s4(STATE) === TcpState.timeWait || s4(STATE) === TcpState.finWait2 && s4(applicationClosed))
  private val rewaits = s4.insert(s4(waits) && (!was.waiting || s4(answers)))
  private def inWholeUnits(duration: TimeNumber): Instant =
    (s3(NOW) + U(Instant.nanoseconds(duration) + (1 << config.deadlineUnit) - 1, 48 bits)).whole(config.deadlineUnit)
  private val timeWaitEnd = s3.insert(inWholeUnits(config.timeWait))
  private val delayedAckEnd = s3.insert(inWholeUnits(config.delayedAck))
  private val places = s3.insert(s3(accepted) && s3(PAYLOAD).held)
  private val placedLength = s4.insert(s4(LENGTH).resize(14) - s4(skip))
  s4(PROTOCOL_ARMED) := s4(waits) || s4(acknowledgments.delayed) || s4(keepAlive.armed)
  private val deadline = Instant()
  deadline := s5(deadlineBefore)
  when(s5(acknowledgments.delays))(deadline := s5(delayedAckEnd))
  when(s5(rewaits))(deadline := s5(timeWaitEnd))
  private val hasOwn = s5(waits) || s5(acknowledgments.delayed)
  private def isFirst(own: Instant): Bool = (own.ns(47 downto 30) - s5(keepAlive.next)).msb // the other's low bits are zero
  private val ownFirst = s5(rewaits) ? isFirst(s5(timeWaitEnd)) |
    (s5(acknowledgments.delays) ? isFirst(s5(delayedAckEnd)) | isFirst(s5(deadlineBefore)))
  s5(PROTOCOL_DEADLINE) := deadline
  when(s5(keepAlive.armed) && !(hasOwn && ownFirst))(s5(PROTOCOL_DEADLINE).ns := s5(keepAlive.next) @@ U(0, 30 bits))

  // ---- step 5: write, and tell

  s5(CONNECTION) := s5(OPENING) ? s5(GENERATION) | s5(before).generation
  s5(OUTSTANDING) := s5(HIGHEST_SENT).since(s5(UNACKNOWLEDGED))

  /** After reset every flow is swept: not in use. */
  private val sweep = Counter(2 * config.flows)
  val ready: Bool = sweep.value.msb
  when(!ready)(sweep.increment())

  private val next = ProtocolState(config)
  next.inUse := !s5(RELEASE) && ready
  next.generation := s5(CONNECTION)
  next.announced := s5(announced)
  next.applicationClosed := s5(applicationClosed)
  next.state := s5(STATE)
  next.reason := s5(REASON)
  next.unacknowledged := s5(UNACKNOWLEDGED)
  next.highestSent := s5(HIGHEST_SENT).low(config.sendNumberBits)
  next.hole := hole.after
  next.written := s5(WRITTEN).low(config.sendNumberBits)
  next.finishing := s5(FINISHING)
  s5(LARGEST_WINDOW) := (s5(OPENING) || s5(raisesWindow)) ? s5(offeredWindow) | s5(largestWindow)
  next.sendWindow := (s5(OPENING) || s5(updatesWindow)) ? s5(offered) | s5(before).sendWindow
  next.largestWindow := (s5(OPENING) || s5(raisesWindow)) ? s5(offered) | s5(before).largestWindow
  next.windowSequence := (s5(receivesSyn) || s5(updatesWindow)) ?
    s5(SEQUENCE).low(config.receiveNumberBits) | s5(before).windowSequence
  next.scaling := s5(SCALING)
  next.selective := s5(SELECTIVE)
  next.windowScale := s5(receivesSyn) ? s5(OPTIONS).windowScale | s5(before).windowScale
  next.segmentSize := s5(SEGMENT_SIZE).resized
  next.consumed := s5(consumed).low(config.receiveNumberBits)
  next.received := s5(RECEIVED)
  private val placing = s4.insert(
    s4(OPENING) ? U(0, was.placing.getWidth bits) | (was.placing + s4(places).asUInt - s4(reassembly.arrives).asUInt))
  next.placing := s5(placing)
  next.reassembly := reassembly.after
  next.acknowledgments := acknowledgments.after
  next.timestamps := timestamps.after
  next.congestionEcho := congestionEcho.after
  next.challenges := challenges.after
  next.keepAlive := keepAlive.after
  next.urgency := urgency.after
  next.softErrors := softErrors.after
  next.waiting := s5(waits)
  next.deadline := deadline.low(config.deadlineBits, config.deadlineUnit)

  memory.write(
    address = ready ? s5(FLOW) | sweep.value.resize(config.flowBits),
    data = next, // while nothing is ready it is not in use, and no more is looked at
    enable = !ready || s5.isValid && (s5(LIVE) || s5(OPENING)))

  /** The verdict on the payload of a segment that holds a slot. */
  val placement = Flow(Placement(config))
  placement.valid := s5.isValid && s5(isSegment) && s5(PAYLOAD).held
  placement.reference.flow := s5(FLOW)
  placement.reference.generation := s5(GENERATION)
  placement.payload.payload.held := True
  placement.payload.payload.slot := s5(PAYLOAD).slot
  placement.payload.payload.offset := s5(PAYLOAD).offset + s5(skip)
  placement.discard := !s5(accepted)
  placement.sequence := SequenceNumber(s5(SEQUENCE).value + s5(skip))
  placement.length := s5(placedLength) - s5(cut)
  placement.fin := s5(takesFin)

  /** The peer's first data byte is known: where the receive buffer begins. */
  val synchronized = Flow(FlowPosition(config))
  synchronized.valid := s5.isValid && s5(receivesSyn) && !s5(isOpen)
  synchronized.flow := s5(FLOW)
  synchronized.sequence := s5(RECEIVED)

  /** A connection that a SYN made is announced, or was never announced and is over: once for each. */
  val handshakeOver: Bool = s5.isValid && s5(LIVE) && !s5(before).announced && (s5(announced) || s5(RELEASE))

  /** An ICMP error that changed nothing; a challenge ACK that was one too many. */
  val ignoredIcmpError: Bool = s5.isValid && s5(stateMachine.ignored)
  val suppressedChallenge: Bool = s5.isValid && s5(challenges.suppressed)
  /** The peer says that it had the data already (RFC 2883). */
  val duplicateSack: Bool = s3.isValid && s3(verdict.ordinary) && s3(before).selective && s3(OPTIONS).duplicateSack

  private val changed = s4.insert(
    s4(STATE) =/= was.state || s4(acknowledges) || s4(isPlaced) || s4(urgency.advances) || s4(softErrors.tells))
  val status = Flow(FlowStatus(config))
  status.valid := s5.isValid && s5(announced) && (s5(OPENING) || s5(LIVE) && s5(changed))
  status.reference.flow := s5(FLOW)
  status.reference.generation := s5(CONNECTION)
  status.state := s5(STATE)
  status.reason := s5(REASON)
  status.acknowledged := s5(UNACKNOWLEDGED)
  status.written := s5(WRITTEN)
  status.consumed := s5(consumed)
  status.received := s5(RECEIVED)
  status.peerFinished := s5(reassembly.finReceived)
  urgency.show(status)
  softErrors.show(status)
}
