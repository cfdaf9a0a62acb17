// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.calculation.Calculators
import downbeat.config.DownbeatConfig
import downbeat.lib.{RestingClock, Tally, WideQueue}
import downbeat.messages.{
  ApplicationEvent, Booking, Deadline, DepartedEvent, DirectoryEvent, FlowPosition, FlowStatus, GrantEvent, PlacedEvent, Placement,
  PolicyChange, SegmentDescriptor, TimerEvent, TraceRecord
}
import downbeat.time.{Epoch, Stamp}
import spinal.core._
import spinal.lib._

/** The flow engine: all events in one line, through five stages in order, one a clock or one in eight ([[DownbeatConfig.eventSpacing]]).
  *
  * It never stalls: the arbiter lets an event in only when there is space for all that it can cause. Descriptors and returns
  * have queues with credits; placements are bounded by the slots that segments hold; bookings, deadlines and
  * status go to memories that take one a clock.
  */
case class FlowEngine(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    // Sources
    val directory = slave(Stream(DirectoryEvent(config)))
    val placed = slave(Stream(PlacedEvent(config)))
    val application = slave(Stream(ApplicationEvent(config)))
    val grants = slave(Stream(GrantEvent(config)))
    val departed = slave(Stream(DepartedEvent(config)))
    val timers = slave(Stream(TimerEvent(config)))
    val policies = config.policiesChoose generate slave(Stream(PolicyChange(config)))
    // Outputs
    val descriptors = master(Stream(SegmentDescriptor(config)))
    val placements = master(Stream(Placement(config)))
    val bookings = master(Flow(Booking(config)))
    val deadlines = master(Flow(Deadline(config)))
    val synchronized = master(Flow(FlowPosition(config)))
    val status = master(Flow(FlowStatus(config)))
    /** A connection that a SYN made is established, or at its end without. */
    val handshakeOver = master(Flow(NoData()))
    val trace = master(Flow(TraceRecord(config)))
    /** ICMP errors that changed nothing, since reset: not about a segment in flight, or about one of an established connection. */
    val ignoredIcmpErrors = out(UInt(config.counterBits bits))
    /** Challenge ACKs that a connection's limit held back, since reset. */
    val suppressedChallenges = out(UInt(config.counterBits bits))
    /** ACKs that say that data came twice (RFC 2883), since reset: something was sent again for nothing. */
    val duplicateSacks = out(UInt(config.counterBits bits))
    val stageCounts = config.stageCounters generate master(Flow(Vec(UInt(16 bits), EnginePipeline.stages)))
    val idle = out(Bool())
    /** Idle, but for descriptors that wait to be taken. */
    val waits = out(Bool())
  }
  noIoPrefix()

  // ---- sources, and the one line

  private def queue[T <: Data](word: HardType[T], depth: Int): StreamFifo[T] = {
    val fifo = new StreamFifo(word, depth, forFMax = true)
    fifo.logic.ram.addAttribute("no_rw_check") // it never reads the place that it writes
    fifo
  }
  private val returns = queue(ReturnEvent(config), FlowEngine.credits(config))
  private val calculators = config.policiesCalculate generate RestingClock(Calculators(config))(_.io.idle)
  /** The two that the engine itself causes, and that cause none of their own. */
  private val ofSegments = Sources.returned(returns.io.pop).registered
  private val caused =
    if (config.policiesCalculate) EventSource.shared(ofSegments, Sources.calculated(calculators.io.result)) else ofSegments
  private val payloadAndApplication = EventSource.shared(Sources.placed(io.placed), Sources.application(io.application))
  /** A change of policies has time, and so have timers. */
  private val timersAndPolicies =
    if (config.policiesChoose) EventSource.shared(Sources.timer(io.timers), Sources.policies(io.policies)) else Sources.timer(io.timers)
  private val changeWaits = if (config.policiesChoose) timersAndPolicies.words.valid else False
  private val departuresAndTimers = EventSource.shared(Sources.departed(io.departed), timersAndPolicies)
  private val sources = Seq(Sources.directory(io.directory), payloadAndApplication, Sources.grant(io.grants), caused, departuresAndTimers)
  private val arbiter: EventLine = if (config.eventSpacing == 1) new Arbiter(config, sources) else new SpacedArbiter(config, sources)
  private val returned = 3 // the source that needs no space for returns

  private val pipeline = new EnginePipeline(config.eventSpacing)
  private val signals = new Signals(config)
  import signals._

  private val epoch = new Epoch(io.now.instant)
  private val entry = pipeline.entry
  private val event = arbiter.output.payload
  entry.valid := arbiter.output.valid
  entry(KIND) := event.kind
  entry(FLOW) := event.reference.flow
  entry(GENERATION) := event.reference.generation
  entry(NOW) := io.now.instant
  entry(EPOCH) := epoch.wraps
  entry(FRESH) := event.fresh
  entry(COOKIE) := event.cookie
  entry(SEQUENCE) := event.sequence
  entry(ACKNOWLEDGMENT) := event.acknowledgment
  entry(FLAGS) := event.flags
  entry(WIRE_WINDOW) := event.window
  entry(URGENT_POINTER) := event.urgentPointer
  entry(OPTIONS) := event.options
  entry(LENGTH) := event.length
  entry(PAYLOAD) := event.payload
  entry(MARKED) := event.congestionExperienced
  entry(STAMP) := event.stamp
  entry(PARAMETERS) := event.parameters
  entry(INITIAL_SEQUENCE) := event.initialSequence
  entry(TIMESTAMP_OFFSET) := event.timestampOffset
  entry(MEMORY_ERROR) := event.memoryError
  entry(LATE) := event.late
  entry(MODE) := event.mode
  entry(MEASURED) := event.probe
  entry(BEGINS) := event.begins
  if (config.policiesCalculate) entry(CALCULATED) := event.calculated

  // ---- the five stages

  private val protocol = new ProtocolStage(config, pipeline, signals)
  private val recovery = new RecoveryStage(config, pipeline, signals)
  private val measure = new MeasureStage(config, pipeline, signals)
  private val congestion = new CongestionStage(config, pipeline, signals)
  private val transmit = new TransmitStage(config, pipeline, signals)
  if (config.policiesCalculate) congestion.calculates(calculators)

  // ---- what leaves

  private val descriptors = WideQueue(SegmentDescriptor(config), FlowEngine.credits(config))
  descriptors.io.push.valid := transmit.descriptor.valid
  descriptors.io.push.payload := transmit.descriptor.payload
  // The queue's memory takes half a clock, and the reader's ready is not to be in line with it: a segment lasts longer than two clocks.
  io.descriptors << descriptors.io.pop.halfPipe()
  returns.io.push.valid := transmit.returned.valid
  returns.io.push.payload := transmit.returned.payload
  private val placements = queue(Placement(config), 2 * config.payloadSlots)
  placements.io.push.valid := protocol.placement.valid
  placements.io.push.payload := protocol.placement.payload
  io.placements << placements.io.pop

  io.bookings << transmit.booking
  io.synchronized << protocol.synchronized
  io.status << protocol.status
  io.handshakeOver.valid := RegNext(protocol.handshakeOver) init False

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.ignoredIcmpErrors := count(protocol.ignoredIcmpError)
  io.suppressedChallenges := count(protocol.suppressedChallenge)
  io.duplicateSacks := count(protocol.duplicateSack)

  /** The earliest of protocol's deadline, recovery's and the user timeout, found while later stages work. */
  private val deadline = new Area {
    private val Seq(compare, choose, compareAgain, chooseAgain, node) = measure.steps.drop(1)
    private val userTimeoutFirst = compare.insert(compare(USER_TIMEOUT_ARMED) && compare(USER_TIMEOUT_DEADLINE).isBefore(compare(RECOVERY_DEADLINE)))
    private val ofRecovery = choose.insert(choose(userTimeoutFirst) ? choose(USER_TIMEOUT_DEADLINE) | choose(RECOVERY_DEADLINE))
    private val protocolFirst = compareAgain.insert(compareAgain(PROTOCOL_ARMED) &&
      !(compareAgain(RECOVERY_ARMED) && compareAgain(ofRecovery).isBefore(compareAgain(PROTOCOL_DEADLINE))))
    private val at = chooseAgain.insert(chooseAgain(protocolFirst) ? chooseAgain(PROTOCOL_DEADLINE) | chooseAgain(ofRecovery))
    private val armed = chooseAgain.insert(chooseAgain(PROTOCOL_ARMED) || chooseAgain(RECOVERY_ARMED))
    io.deadlines.valid := node.isValid && (node(LIVE) || node(OPENING))
    io.deadlines.reference.flow := node(FLOW)
    io.deadlines.reference.generation := node(CONNECTION)
    io.deadlines.armed := node(armed)
    io.deadlines.at := node(at)
  }

  private val record = new Area {
    private val node = pipeline.exit
    io.trace.valid := node.isValid
    io.trace.time := node(NOW)
    io.trace.reference.flow := node(FLOW)
    io.trace.reference.generation := node(CONNECTION)
    io.trace.kind := node(KIND)
    io.trace.live := node(LIVE) || node(OPENING)
    io.trace.state := node(STATE)
    io.trace.reason := node(REASON)
    io.trace.congestion := node(congestion.EVENT)
    io.trace.startup := node(congestion.STARTUP)
    io.trace.steady := node(congestion.STEADY)
    io.trace.window := node(WINDOW)
    io.trace.acknowledged := node(UNACKNOWLEDGED)
    io.trace.nextSend := node(NEXT_SEND)
    io.trace.highestSent := node(HIGHEST_SENT)
    io.trace.sendWindow := node(SEND_WINDOW)
    io.trace.received := node(RECEIVED)
    io.trace.sent := transmit.returned.valid && !transmit.returned.failed && !transmit.descriptor.flags.rst
    io.trace.sentSequence := transmit.returned.sequence
    io.trace.sentLength := transmit.returned.length
    io.trace.retransmission := io.trace.sent && transmit.repeats
    io.trace.asked := node(congestion.ASKED)
  }
  if (config.stageCounters) {
    io.stageCounts.valid := pipeline.exit.isValid
    for ((stage, i) <- Seq(protocol, recovery, measure, congestion, transmit).zipWithIndex)
      io.stageCounts.payload(i) := pipeline.exit(stage.count.get)
  }
  pipeline.build()

  // ---- credits

  private val descriptorCredit = FlowEngine.credit(config, taken = arbiter.issued,
    unused = pipeline.exit.isValid && !transmit.descriptor.valid, freed = descriptors.io.pop.fire)
  private val returnCredit = FlowEngine.credit(config, taken = arbiter.issued,
    unused = pipeline.exit.isValid && !transmit.returned.valid, freed = returns.io.pop.fire)
  for (source <- arbiter.permitted.indices)
    arbiter.permitted(source) := RegNext(protocol.ready && descriptorCredit && (if (source == returned) True else returnCredit)) init False

  private val calculationsRest = if (config.policiesCalculate) calculators.io.idle else True
  // A queue holds a word before it offers it: its occupancy says so.
  io.waits := protocol.ready && !epoch.turns && arbiter.isEmpty && pipeline.isEmpty && calculationsRest &&
    !payloadAndApplication.words.valid && !changeWaits && !departuresAndTimers.words.valid && !caused.words.valid && !ofSegments.words.valid &&
    !returns.io.occupancy.orR && !placements.io.occupancy.orR
  io.idle := io.waits && !descriptors.io.occupancy.orR && !io.descriptors.valid
}

object FlowEngine {
  /** Descriptors, and returns, that may be under way at once. More than the events that fit into the engine. */
  private def credits(config: DownbeatConfig): Int = if (config.eventSpacing == 1) 64 else 16

  /** True while one more may be taken, seen four clocks late. Each event takes one; it is free again when the event causes nothing, or
    * when what it caused has gone. Counted a clock after it happens, so that the count waits neither for the choice nor for the queue's
    * reader.
    */
  private def credit(config: DownbeatConfig, taken: Bool, unused: Bool, freed: Bool): Bool = {
    val used = Reg(UInt(log2Up(credits(config) + 1) bits)) init 0
    val change = Seq(taken, unused, freed).map(RegNext(_) init False).map(_.asUInt)
    used := used + change(0) - change(1) - change(2)
    RegNext(used < credits(config) - 5) init False
  }
}
