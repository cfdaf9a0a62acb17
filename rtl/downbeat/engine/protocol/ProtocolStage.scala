// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import downbeat.lib.ecc.{Decoded, FlipCounts, StateMemory}
import downbeat.messages.{EventKind, FlowPosition, FlowStatus, Placement, TcpState}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Protocol: the state machine of RFC 9293, sequence numbers, windows, and what must be acknowledged.
  *
  * Steps 0 to 2 judge the event ([[SegmentVerdict]] and its checks), steps 2 and 3 decide the state ([[StateMachine]]),
  * step 4 finds the new values, step 5 writes them. Each part owns its part of the connection's state.
  */
class ProtocolStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 0, HardType(ProtocolState(config))) {
  import signals._

  private lazy val identities = StateMemory(config.ecc, ConnectionIdentity(config), config.flows)
    .setCompositeName(this, "identities").addAttribute("no_rw_check")
  override protected def restored(read: Decoded[ProtocolState]): ProtocolState = if (!config.ecc) read.word
  else {
    val word = CombInit(read.word)
    val identity = StateMemory.read(identities, address(FLOW), pipeline.moves(address), counts = fetched.isValid).word
    when(read.uncorrectable)(word.assignSomeByName(identity))
    word
  }
  private val view = new ProtocolView(config, signals, before, unreadable, address, fetched, steps)
  import view._

  // ---- the parts

  private val timestampCheck = new TimestampCheck(view)
  private val windowCheck = new WindowCheck(view)
  private val hole = new UnsentHole(view)
  private val ackCheck = new AckCheck(view, hole)
  private val verdict = new SegmentVerdict(view, windowCheck, ackCheck, timestampCheck)
  private val placementCheck = new PlacementCheck(view)
  private val duplicates = new DuplicateReport(view, windowCheck, placementCheck)
  private val reassembly = new Reassembly(view, verdict, placementCheck, duplicates)
  private val acknowledgments = new Acknowledgments(view, verdict, windowCheck, placementCheck, reassembly)
  private val timestamps = new Timestamps(view, timestampCheck, verdict)
  private val congestionEcho = new CongestionEcho(view, verdict)
  private val challenges = new ChallengeLimit(view, verdict)
  private val keepAlive = new KeepAlive(view, verdict)
  private val urgency = new Urgency(view, verdict)
  private val lifetime = new Lifetime(view, verdict, placementCheck)
  private val stateMachine = new StateMachine(view, verdict, placementCheck, keepAlive, lifetime)
  private val softErrors = new SoftErrors(view, verdict, stateMachine)
  private val sequence = new SendSequence(view, verdict, ackCheck, hole, urgency, stateMachine)
  private val options = new NegotiatedOptions(view, verdict, stateMachine)
  private val replies = new Replies(view, verdict, acknowledgments, challenges, keepAlive, stateMachine)
  private val deadline = new ProtocolDeadline(view, acknowledgments, keepAlive, lifetime, replies)
  import verdict.{data, effect, peerSyn, segment}

  // ---- the connection after the event

  /** After reset a sweep marks every flow as not in use. */
  private val sweep = new Area {
    val flow = Counter(2 * config.flows)
    val done = flow.value.msb
    when(!done)(flow.increment())
  }
  def ready: Bool = sweep.done

  private val reading = new s2.Area {
    /** One past the last byte read, if the application reads. */
    val end = insert(whole.consumed + LENGTH)
  }
  private val consumed = new s4.Area {
    val end = insert(Mux[SequenceNumber](
        peerSyn.taken, event.firstData, Mux[SequenceNumber](kind.consumed && LIVE, reading.end, whole.consumed)))
  }

  private val next = ProtocolState(config)
  private val update = new s5.Area {
    CONNECTION := Mux[UInt](OPENING, GENERATION, before.generation)
    next.inUse := !RELEASE && sweep.done
    next.generation := CONNECTION
    next.state := STATE
    next.reason := REASON
    next.consumed := consumed.end.low(config.receiveNumberBits)
    next.received := RECEIVED
    next.reassembly := reassembly.after
    next.acknowledgments := acknowledgments.after
    next.timestamps := timestamps.after
    next.congestionEcho := congestionEcho.after
    next.challenges := challenges.after
    next.keepAlive := keepAlive.after
    next.urgency := urgency.after
    next.softErrors := softErrors.after
    private val written = Mux[UInt](sweep.done, FLOW, sweep.flow.value.resize(config.flowBits))
    private val writes = !sweep.done || isValid && (LIVE || OPENING)
    memory.write(written, next, writes) // the sweep clears `inUse`; nothing else is looked at then
    if (config.ecc) {
      val identity = ConnectionIdentity(config)
      identity.assignSomeByName(next)
      identities.write(written, identity, writes)
    }
  }
  sequence.keep(next)
  options.keep(next)
  lifetime.keep(next)
  deadline.keep(next)

  // ---- the payload's placement, and the receive buffer's position

  private val placed = new s4.Area {
    val length = insert(LENGTH.resize(14) - data.skip)
  }
  /** Placement or discard of the payload of a segment that holds a slot. */
  val placement = Flow(Placement(config))
  private val place = new s5.Area {
    placement.valid := isValid && kind.segment && PAYLOAD.held
    placement.reference.flow := FLOW
    placement.reference.generation := GENERATION
    placement.payload.payload.held := True
    placement.payload.payload.slot := PAYLOAD.slot
    placement.payload.payload.offset := PAYLOAD.offset + data.skip
    placement.discard := !data.accepted
    placement.sequence := SequenceNumber(SEQUENCE.value + data.skip)
    placement.length := placed.length - data.cut
    placement.fin := data.takesFin
  }
  /** The position of the peer's first data byte, when its SYN makes it known. */
  val synchronized = Flow(FlowPosition(config))
  reassembly.begin(synchronized)

  /** Nothing may be in flight when the host restarts a connection. */
  private val start = config.hostStart generate new s2.Area {
    private val isOpen = before.state === TcpState.established || before.state === TcpState.closeWait
    STARTS := KIND === EventKind.start && LIVE && isOpen && !bytes.outstanding.orR
  }

  // ---- the application's status, and counters

  def handshakeOver: Bool = lifetime.handshakeOver
  /** An ICMP error changed nothing. A challenge ACK was held back. The peer received data twice (RFC 2883). A
    * connection that the application had closed made no progress and is given up.
    */
  val ignoredIcmpError, suppressedChallenge, duplicateSack, stalledClose = Bool()
  private val ignore = new s5.Area {
    ignoredIcmpError := isValid && stateMachine.icmp.ignored
    suppressedChallenge := isValid && challenges.reply.suppressed
    stalledClose :=
      isValid && kind.failed && !MEMORY_ERROR && LIVE && before.applicationClosed && before.state =/= TcpState.closed
    if (config.ecc) FlipCounts.countUncorrectable(isValid && stateMachine.memory.ends)
  }
  private val repetition = new s3.Area {
    CAME_TWICE := segment.ordinary && before.selective && OPTIONS.duplicateSack
    duplicateSack := isValid && CAME_TWICE
  }

  private val change = new s4.Area {
    val any = insert(
      STATE =/= before.state || stateMachine.memory.ends || effect.acknowledges || kind.placed ||
        urgency.received.advances || softErrors.report.due)
  }
  val status = Flow(FlowStatus(config))
  private val tell = new s5.Area {
    status.valid := isValid && lifetime.application.announced && (OPENING || LIVE && change.any)
    status.reference.flow := FLOW
    status.reference.generation := CONNECTION
    status.state := STATE
    status.reason := REASON
    status.acknowledged := UNACKNOWLEDGED
    status.written := WRITTEN
    status.consumed := consumed.end
    status.received := RECEIVED
    status.peerFinished := reassembly.received.fin
  }
  urgency.show(status)
  softErrors.show(status)
}
