// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{CommandPort, Notifier, PathReportQueue}
import downbeat.config.DownbeatConfig
import downbeat.engine.FlowEngine
import downbeat.flow.FlowDirectory
import downbeat.lib.{InTurn, RegisteredHandshake, RestingClock}
import downbeat.messages.{
  ApplicationBeat, ApplicationEvent, Command, DirectoryDrops, EventKind, IcmpErrorKind, Notification, OpenRequest,
  PathReport, PlacedEvent, ReceivedSegment, TraceRecord
}
import downbeat.pacing.{Pacer, Timers}
import downbeat.time.Stamp
import downbeat.tx.{DepartureTags, OutgoingFrame, SegmentBuilder}
import downbeat.wire.{AxiStream, DepartureStamp}
import spinal.core._
import spinal.lib._

/** Frames that the core did not take, since reset; the same counters as in [[Counters]]. */
case class HeaderTapCounters(bits: Int) extends Bundle {
  val directory = DirectoryDrops(bits)
  val ignoredIcmpErrors, staleStamps, unknownCommands = UInt(bits bits)
}

/** The core without frames and payload, for long simulations: parsed segments in, segments with their addresses and
  * launch times out. Everything that decides is the same as in [[Downbeat]]; what is left out only moves bytes.
  *
  * Ports that [[Downbeat]] has too are the same. Payload exists as a length alone: a placement is confirmed at once,
  * what the application has written is a number of bytes, and a receive command counts as consumed. Opens are resolved
  * at once: the module that makes frames of segments resolves neighbours; a connection that was opened from here has
  * MAC zero.
  */
case class HeaderTap(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in UInt (64 bits)
    /** Nothing moves before `nextDeadline`, an input, or the next segment that is taken. */
    val idle = out Bool ()
    val nextDeadline = out UInt (48 bits)
    val local_ip = in UInt (32 bits)
    val secret = in Bits (128 bits)

    /** Segments to our address, right and parsed, with the stamp of their SFD; where a payload lies is not read. */
    val received = slave(Stream(ReceivedSegment(config)))
    /** Segments to send, as the transmitter would serialise them, without the payload that follows. */
    val outgoing = master(Stream(OutgoingFrame(config)))
    /** SFD stamps of tagged segments. */
    val departures = slave(Flow(DepartureStamp()))

    val s_axis_command = slave(AxiStream(Command(config).getBitsWidth))
    val m_axis_notification = master(AxiStream(Notification(config).getBitsWidth))
    /** The application has written; the caller heeds the send buffer's size. TDATA: bytes; TUSER: urgent ones; TDEST:
      * the flow.
      */
    val s_axis_written = slave(AxiStream(32, userBits = 1, destBits = config.flowBits))
    /** Frames of data that have begun, since reset, modulo 256; a word of `s_axis_written` follows each, and a
      * shutdown, close or abort waits for that of all that had begun when it came.
      */
    val framesBegun = in UInt (ApplicationBeat.frameCountBits bits)

    val m_axis_path_report = config.pathReports generate master(AxiStream(PathReport(config).getBitsWidth))

    val trace = master(Flow(TraceRecord(config)))
    val counters = out(HeaderTapCounters(config.counterBits))
  }
  noIoPrefix()

  private val now = Stamp()
  now.assignFromBits(io.now.asBits)

  // ---- the core's modules that know neither frames nor payload, connected as in Downbeat; more of them rest
  // here, since an experiment's events come one by one

  private val directory = RestingClock(FlowDirectory(config))(module => module.io.idle && !module.io.next.armed)
  private val engine = // a descriptor that leaves in this clock must be gone in the next one
    RestingClock(FlowEngine(config))(module => module.io.waits && !module.io.descriptors.fire)
  private val pacer = Pacer(config)
  private val timers = RestingClock(Timers(config))(_.io.idle)
  private val commandPort = RestingClock(CommandPort(config)) { module => // its `idle` leaves out what its outputs hold
    val policies = if (config.policiesChoose) module.io.policies.valid else False
    module.io.idle && !module.io.opens.valid && !module.io.listens.valid && !policies
  }
  private val notifier = RestingClock(Notifier(config))(_.io.idle)
  private val builder = RestingClock(SegmentBuilder(config))(module => module.io.idle && !module.io.dataLeaves)
  private val tags = RestingClock(DepartureTags(config))(_.io.idle)

  directory.io.now := now
  directory.io.localIp := io.local_ip
  directory.io.network.assignFromBits(B(0, widthOf(directory.io.network) bits)) // frames have no addresses here
  directory.io.moves.valid := False
  directory.io.moves.payload.assignDontCare()
  directory.io.secret := io.secret
  directory.io.handshakeOver << engine.io.handshakeOver
  directory.io.ended << engine.io.ended
  directory.io.timestampClock := engine.io.timestampClock
  engine.io.now := now
  engine.io.directory << directory.io.events
  pacer.io.now := now
  pacer.io.bookings << engine.io.bookings
  engine.io.grants << pacer.io.grants
  timers.io.now := now
  timers.io.deadlines << engine.io.deadlines
  engine.io.timers << timers.io.expired
  commandPort.io.commands << io.s_axis_command.toStream(Command(config))(_.assignFromBits(io.s_axis_command.word))
  directory.io.listens << commandPort.io.listens
  if (config.policiesChoose) engine.io.policies << commandPort.io.policies
  notifier.io.status << engine.io.status
  notifier.io.addressRead <> directory.io.addressRead(1)
  io.m_axis_notification.fromStream(notifier.io.notifications) { notification: Notification =>
    io.m_axis_notification.tdata := notification.asBits.resized
  }

  private val reports = config.pathReports generate
    RestingClock(PathReportQueue(config))(module => module.io.idle && !module.io.newest.valid)
  if (config.pathReports) {
    reports.io.reports << engine.io.pathReports
    io.m_axis_path_report.fromStream(reports.io.newest) { report: PathReport =>
      io.m_axis_path_report.tdata := report.asBits.resized
    }
  }

  // ---- segment -> event; one that would hold a payload slot takes one of as many places, or waits

  private val carries =
    io.received.icmpError === IcmpErrorKind.none && (io.received.length.orR || io.received.flags.fin)
  private val placesTaken = Reg(UInt(config.slotBits + 1 bits)) init 0
  private val segments = io.received.haltWhen(carries && placesTaken.msb)
  directory.io.segments << RegisteredHandshake(segments.map { segment =>
    val held = CombInit(segment).allowOverride()
    held.payload.held := carries
    held.payload.slot := 0
    held.payload.offset := 0
    held
  })

  // ---- placement -> placed

  placesTaken := placesTaken + (segments.fire && carries).asUInt - engine.io.placements.fire.asUInt - directory.io.discards.fire.asUInt
  directory.io.discards.ready := True
  engine.io.placed << engine.io.placements.throwWhen(engine.io.placements.discard).map { placement =>
    val placed = PlacedEvent(config)
    placed.assignSomeByName(placement)
    placed.memoryError := False
    placed
  }.halfPipe()

  // ---- descriptor -> segment out -> departure; a flow is free when its last segment has left

  builder.io.local.mac := 0
  builder.io.local.ip := io.local_ip
  builder.io.descriptors << engine.io.descriptors
  builder.io.statelessReplies << directory.io.statelessReplies
  builder.io.addressRead <> directory.io.addressRead(0)
  builder.io.fetch.ready := True
  private val entries = builder.io.data
  builder.io.dataLeaves := RegNext(entries.fire && !entries.release, False) // the simulator keeps their order
  directory.io.released.valid := entries.fire && entries.release
  directory.io.released.payload := entries.reference.flow
  private val built = StreamArbiterFactory().lowerFirst.noLock.onArgs(
    builder.io.immediate.map(OutgoingFrame.immediate(config, _)), entries.throwWhen(entries.release).map(_.frame))
  io.outgoing << built.halfPipe()
  private val stuck = io.outgoing.isStall && (built.isStall || builder.io.idle)

  tags.io.tags <> builder.io.tags
  tags.io.departures << io.departures
  engine.io.departed << tags.io.departed

  // ---- the application

  directory.io.opens << commandPort.io.opens.map { open =>
    val request = OpenRequest(config)
    request.assignSomeByName(open)
    request.remoteMac := 0
    request
  }
  private def event(kind: EventKind.E, flow: UInt, length: UInt): ApplicationEvent = {
    val event = ApplicationEvent(config)
    event.kind := kind
    event.flow := flow
    event.length := length
    event.memoryError := False
    event.urgent := False
    event
  }
  private val written = io.s_axis_written.toStream(ApplicationEvent(config)) { word =>
    word := event(EventKind.written, io.s_axis_written.tdest, io.s_axis_written.tdata.asUInt)
    word.urgent.allowOverride() := io.s_axis_written.tuser.asBool
  }.m2sPipe().haltWhen(commandPort.io.holds)
  private val consumed = commandPort.io.requests.map(request => event(EventKind.consumed, request.flow, request.length))
  private val framesReported = Reg(UInt(ApplicationBeat.frameCountBits bits)) init 0
  when(written.fire)(framesReported := framesReported + 1)
  commandPort.io.framesBegun := io.framesBegun
  commandPort.io.framesReported := framesReported
  if (config.hostStart) commandPort.io.started << engine.io.started
  commandPort.io.receiveIdle := !consumed.valid
  engine.io.application << InTurn(written, consumed, commandPort.io.events)
  notifier.io.refused << InTurn(directory.io.refused, commandPort.io.refused)

  // ---- status outputs

  io.trace << engine.io.trace
  io.counters.directory := directory.io.drops
  io.counters.ignoredIcmpErrors := engine.io.ignoredIcmpErrors
  io.counters.staleStamps := tags.io.staleStamps
  io.counters.unknownCommands := commandPort.io.unknown
  io.idle := CoreIdle(
    directory.io.idle, stuck && engine.io.waits || engine.io.idle, pacer.io.idle, timers.io.idle, commandPort.io.idle,
    notifier.io.idle, stuck || builder.io.idle && !io.outgoing.valid, tags.io.idle, !written.valid, !io.received.valid,
    if (config.pathReports) reports.io.idle else True)
  io.nextDeadline := CoreIdle.nextDeadline(pacer.io.next, timers.io.next, directory.io.next)
}
