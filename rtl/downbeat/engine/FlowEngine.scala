// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.calculation.{Calculators, InlineEstimator, RateEstimator}
import downbeat.config.DownbeatConfig
import downbeat.engine.arbiter.{Arbiter, Credits, EngineSources, EventLine, SpacedArbiter}
import downbeat.engine.congestion.CongestionStage
import downbeat.engine.measure.MeasureStage
import downbeat.engine.pipeline.{EnginePipeline, EventEntry, ReturnEvent, Signals}
import downbeat.engine.protocol.{ProtocolStage, Timestamps}
import downbeat.engine.recovery.RecoveryStage
import downbeat.engine.transmit.TransmitStage
import downbeat.lib.{RestingClock, Tally, WideQueue}
import downbeat.messages.{
  ApplicationEvent, Booking, ConnectionEnd, Deadline, DepartedEvent, DirectoryEvent, FlowPosition, FlowStatus,
  GrantEvent, PlacedEvent, EventKind, PathReport, Placement, PolicyChange, SegmentDescriptor, StartResult, TimerEvent,
  TraceRecord
}
import downbeat.report.PathReporter
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** The flow engine: one queue of all events, through five stages in order, one event a clock or one in eight
  * ([[DownbeatConfig.eventSpacing]]). This file only wires.
  *
  * It never stalls: the arbiter takes an event only when there is space for all that the event can cause. Descriptors
  * and returns have queues with credits; placements are bounded by the slots that segments hold; bookings, deadlines
  * and status go to memories that take one a clock.
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
    /** A connection ends, and its flow's release follows. */
    val ended = master(Flow(ConnectionEnd(config)))
    /** Clock of the TSval of all connections, in units of 2^20 ns. */
    val timestampClock = out(UInt(32 bits))
    /** The handshake of an accepted connection is over: it is established, or it has ended before. */
    val handshakeOver = master(Flow(NoData()))
    val trace = master(Flow(TraceRecord(config)))
    /** Those of one flow at least eight clocks apart. */
    val pathReports = config.pathReports generate master(Flow(PathReport(config)))
    /** Each `start` has a response. */
    val started = config.hostStart generate master(Flow(StartResult(config)))
    /** ICMP errors without effect, since reset: not about a segment in flight, or about one of an established
      * connection.
      */
    val ignoredIcmpErrors = out(UInt(config.counterBits bits))
    /** Challenge ACKs that a connection's limit held back, since reset. */
    val suppressedChallenges = out(UInt(config.counterBits bits))
    /** ACKs that report data that came twice (RFC 2883), since reset: a retransmission was needless. */
    val duplicateSacks = out(UInt(config.counterBits bits))
    /** Tail loss probes that were sent, and reductions of a window that were taken back, since reset. */
    val tailLossProbes, undoneReductions = out(UInt(config.counterBits bits))
    /** Connections that the application had closed and that made no progress until they were given up. */
    val stalledCloses = out(UInt(config.counterBits bits))
    val stageCounts = config.stageCounters generate master(Flow(Vec(UInt(16 bits), EnginePipeline.stages)))
    val idle = out(Bool())
    /** Idle, but for descriptors that wait to be taken. */
    val waits = out(Bool())
  }
  noIoPrefix()

  // ---- sources, and the one queue

  private def queue[T <: Data](word: HardType[T], depth: Int): StreamFifo[T] = {
    val fifo = new StreamFifo(word, depth, forFMax = true)
    fifo.logic.ram.addAttribute("no_rw_check") // it never reads the place that it writes
    fifo
  }
  private val returns = queue(ReturnEvent(config), Credits.places(config))
  private val calculators = config.policiesCalculate generate RestingClock(Calculators(config))(_.io.idle)
  private val estimator = config.policiesEstimate generate RestingClock(RateEstimator(config))(_.io.idle)
  private val inline = config.policiesMeasure generate RestingClock(InlineEstimator(config))(_.io.idle)
  private val sources = new EngineSources(
    directory = io.directory,
    placed = io.placed,
    application = io.application,
    grants = io.grants,
    departed = io.departed,
    timers = io.timers,
    policies = Option(io.policies),
    returned = returns.io.pop,
    calculated = Option(calculators).map(_.io.result),
    estimated = Option(estimator).map(_.io.result),
    measured = Option(inline).map(_.io.result))
  private val arbiter: EventLine =
    if (config.eventSpacing == 1) new Arbiter(config, sources.all) else new SpacedArbiter(config, sources.all)

  // ---- the five stages

  private val pipeline = new EnginePipeline(config.eventSpacing, config.ecc)
  private val signals = new Signals(config)
  private val entry = new EventEntry(config, pipeline, signals, arbiter.output, io.now.instant)
  private val protocol = new ProtocolStage(config, pipeline, signals)
  private val recovery = new RecoveryStage(config, pipeline, signals)
  private val measure = new MeasureStage(config, pipeline, signals)
  private val congestion = new CongestionStage(config, pipeline, signals)
  private val transmit = new TransmitStage(config, pipeline, signals)
  if (config.policiesCalculate) congestion.calculates(calculators)
  if (config.policiesEstimate) measure.estimates(estimator, congestion.windowBefore, congestion.readsRates)
  if (config.policiesMeasure) measure.measures(inline)
  if (config.policiesSample) measure.samples(congestion.windowBefore)
  private val deadlines = new DeadlineChoice(config, signals, measure.steps)
  private val recorder = new TraceRecorder(config, pipeline, signals, congestion, transmit)

  // ---- outputs

  private val descriptors = WideQueue(SegmentDescriptor(config), Credits.places(config))
  descriptors.io.push.valid := transmit.descriptor.valid
  descriptors.io.push.payload := transmit.descriptor.payload
  // The queue's memory takes half a clock, and the reader's ready must not add to that: a segment lasts longer than two
  // clocks.
  io.descriptors << descriptors.io.pop.halfPipe()
  returns.io.push.valid := transmit.returned.valid
  returns.io.push.payload := transmit.returned.payload
  private val placements = queue(Placement(config), 2 * config.payloadSlots)
  placements.io.push.valid := protocol.placement.valid
  placements.io.push.payload := protocol.placement.payload
  io.placements << placements.io.pop

  io.bookings << transmit.booking
  io.deadlines << deadlines.deadline
  io.synchronized << protocol.synchronized
  io.status << protocol.status
  io.ended << transmit.ended
  io.timestampClock := RegNext(Timestamps.clock(entry.epoch, io.now.instant))
  io.handshakeOver.valid := RegNext(protocol.handshakeOver) init False
  io.trace << recorder.record
  private val reporter = config.pathReports generate RestingClock(PathReporter(config))(_.io.idle)
  if (config.pathReports) {
    reporter.io.events << recorder.path
    io.pathReports << reporter.io.reports
  }
  if (config.hostStart) io.started << recorder.started

  io.ignoredIcmpErrors := Tally(protocol.ignoredIcmpError, config.counterBits)
  io.suppressedChallenges := Tally(protocol.suppressedChallenge, config.counterBits)
  io.duplicateSacks := Tally(protocol.duplicateSack, config.counterBits)
  io.tailLossProbes := Tally(recovery.probed, config.counterBits)
  io.undoneReductions := Tally(recovery.undone, config.counterBits)
  io.stalledCloses := Tally(protocol.stalledClose, config.counterBits)
  if (config.stageCounters) {
    io.stageCounts.valid := pipeline.exit.isValid
    for ((stage, i) <- Seq(protocol, recovery, measure, congestion, transmit).zipWithIndex)
      io.stageCounts.payload(i) := pipeline.exit(stage.count.get)
  }
  pipeline.build()

  // ---- credits

  private val descriptorCredits = new Credits(Credits.places(config), taken = arbiter.issued,
    unused = pipeline.exit.isValid && !transmit.descriptor.valid, freed = descriptors.io.pop.fire)
  private val returnCredits = new Credits(Credits.places(config), taken = arbiter.issued,
    unused = pipeline.exit.isValid && !transmit.returned.valid, freed = returns.io.pop.fire)
  for ((source, permitted) <- sources.all.zip(arbiter.permitted))
    permitted := RegNext(
      protocol.ready && descriptorCredits.left && (if (source.returns) returnCredits.left else True)) init False

  // ---- idle

  private val calculatorsIdle = (if (config.policiesCalculate) calculators.io.idle else True) &&
    (if (config.policiesEstimate) estimator.io.idle else True) &&
    (if (config.pathReports) reporter.io.idle else True) &&
    (if (config.policiesMeasure) inline.io.idle else True)
  // A queue holds a word before it offers it: its occupancy says so.
  io.waits := protocol.ready && !entry.turns && arbiter.isEmpty && pipeline.isEmpty && calculatorsIdle && !sources.waiting &&
    !returns.io.occupancy.orR && !placements.io.occupancy.orR
  io.idle := io.waits && !descriptors.io.occupancy.orR && !io.descriptors.valid
}
