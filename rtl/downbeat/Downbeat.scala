// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{CommandPort, Notifier, PathReportQueue}
import downbeat.config.DownbeatConfig
import downbeat.engine.FlowEngine
import downbeat.flow.FlowDirectory
import downbeat.host.{Doorbell, HostInterface, HostOpened, HostPorts, HostSetUp, HostShown, SegmentStamp}
import downbeat.lib.PortNotes.Noted
import downbeat.lib.ecc.FlipCounts
import downbeat.lib.{InTurn, RegisteredHandshake, RestingClock, Tally}
import downbeat.memory.{BurstReader, MemoryPort, PayloadMemory, PlacementWriter, ReceiveBuffer, SendBuffer}
import downbeat.messages.{
  ApplicationBeat, CloseReason, Command, Counters, DeliveredBeat, FlowPosition, LocalAddresses, LocalNetwork,
  Notification, PathReport, PlacedEvent, Placement, StaticNeighbour, TraceRecord, Vlan
}
import downbeat.neighbour.Neighbour
import downbeat.pacing.{Pacer, Timers}
import downbeat.rx.Receiver
import downbeat.time.Stamp
import downbeat.tx.Transmitter
import downbeat.wire.{AxiStream, DepartureStamp, FrameBeat, FramePorts}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4SpecRenamer}

/** The core, from frame stream to frame stream. This file is its block diagram: it makes the modules and connects them.
  *
  * {{{
  *   wire in --> receiver ---> directory ---> engine ---> transmitter --> wire out
  *                  |  ^            ^         |  ^ ^  \        ^
  *          control |  | ICMP error | open    |  | |   \       | payload
  *                  v  |            |         |  | |    \      |
  *               neighbour ---------+         |  | +-- pacer, timers
  *                  ^                         |  |              |
  *             open |               placement |  | placed,      | fetch
  *                  |                         v  | written      |
  *   commands -> commandPort          payload memory <----------+
  *   notifications <- notifier            ^   |
  *                              sendBuffer    receiveBuffer
  *                                  ^              |
  *                               data in        data out
  * }}}
  *
  * One clock `clk`, one synchronous active-high `reset`. TDATA byte 0 is the first byte of the wire.
  */
case class Downbeat(config: DownbeatConfig) extends Component {
  private def hasHost = config.hostPorts > 0
  val io = new Bundle {
    val now =
      in(UInt(64 bits)).note("Time: ns in bits 63..16, fraction below. Monotone; may jump to 60 s past `nextDeadline`.")
    val idle = out(Bool()).note("Nothing moves before `nextDeadline` or an input.")
    val nextDeadline = out(UInt(48 bits)).note("ns; may be early, never late; all ones: never.")

    val local_mac =
      in(Bits(48 bits)).note("Own MAC address, first byte of the wire in bits 47..40. Constant out of reset.")
    val local_ip = in(UInt(32 bits)).note("Own IPv4 address. Constant out of reset.")
    val local_netmask =
      in(UInt(32 bits)).note("Leading ones; zero: every address is on our network. Constant out of reset.")
    val local_gateway = in(UInt(32 bits)).note("Next hop to all other networks; zero: none. Constant out of reset.")
    val local_vlans = (config.vlans > 0) generate in(Bits(config.vlans * Vlan.portBits bits)).note(
      "Own VLANs, 16 bits each, the first lowest: 11..0 VID (0: none), 15..13 our PCP. Constant out of reset.")
    val s_axis_neighbour = slave(AxiStream(81 + config.vlanBits)).note(
      "Static neighbours. TDATA: 31..0 IP, 79..32 MAC, 80 remove" +
        (if (config.vlans > 0) s", ${80 + config.vlanBits}..81 VLAN." else "."))
    val address_conflict =
      out(Bool()).note("Another station uses our IP address, or did in the last ten seconds.")
    val secret = in(Bits(128 bits)).note(
      "Key of all hashes: initial sequence numbers, ephemeral ports, cookies, flow lookup. " +
        "Random; constant out of reset.")

    val s_axis_wire_rx = slave(AxiStream(config.beatBits, packet = true, userBits = 65)).note(
      "Frames from the MAC without FCS. TUSER: 63..0 SFD stamp (first beat), 64 damaged (last beat).")
    val m_axis_wire_tx = master(AxiStream(config.beatBits, packet = true, userBits = 96)).note(
      "Frames to the MAC without FCS. TUSER, the same in all beats: 63..0 launch time, 65..64 mode (0 at, 1 asap, " +
        "2 afterPrevious), 81..66 tag (0: no stamp wanted), 95..82 index of the last byte (0: known at the end only).")
    val s_axis_departure =
      slave(AxiStream(80, stalls = false)).note("SFD stamps of tagged frames. TDATA: 15..0 tag, 79..16 stamp.")
    val m_axis_bypass_rx = master(AxiStream(config.beatBits, packet = true, userBits = 65)).note(
      "Received frames that are not ours. TUSER as it came in.")
    val s_axis_bypass_tx = slave(AxiStream(config.beatBits, packet = true)).note("Frames of others to send.")

    val s_axis_command =
      slave(AxiStream(Command(config).getBitsWidth)).note(
        "A command in each beat: `DOWNBEAT_COMMAND_...` in downbeat_layout.h.")
    val m_axis_notification = master(AxiStream(Notification(config).getBitsWidth)).note(
      "A notification in each beat: `DOWNBEAT_NOTIFICATION_...` in downbeat_layout.h.")
    val m_axis_path_report = config.pathReports generate
      master(AxiStream(PathReport(config).getBitsWidth)).note(
        "A path report in each beat, the newest of its flow: `DOWNBEAT_PATH_REPORT_...` in downbeat_layout.h.")
    val s_axis_tx = slave(AxiStream(config.beatBits, packet = true, userBits = 1, destBits = config.flowBits)).note(
      "Application data to send. TDEST: flow. TUSER is 1 in the last beat of a frame that ends urgent data.")
    val m_axis_rx = master(AxiStream(config.beatBits, packet = true, userBits = 1, destBits = config.flowBits)).note(
      "Received application data. TDEST: flow. TUSER is 1 in the last beat of a frame whose bytes the memory " +
        "refused: discard that frame.")

    val m_axi = config.externalMemory generate master(Axi4(config.memory)).note(
      s"AXI4 to the payload memory: ${config.memory.addressWidth} address bits from 0 on, ${config.beatBits} data bits, INCR bursts " +
        s"of up to ${MemoryPort.pageBytes / config.beatBytes} beats within 2 KiB, several outstanding; its base is a multiple of 4 KiB. Responses of one ID " +
        "come in order, those of different IDs in any order.")

    // The host's ports: what registers set and show, its doorbells, its rings, an interrupt for each
    // (docs/reference/host-interface.md).
    val host_set_up = hasHost generate in(Vec.fill(config.hostPorts)(HostSetUp()))
    val host_shown = hasHost generate out(Vec.fill(config.hostPorts)(HostShown()))
    val host_doorbells = hasHost generate slave(Stream(Doorbell(config)))
    val m_axi_host = hasHost generate master(Axi4(HostPorts.axi)).note(
      s"AXI4 to the rings in the host's memory: ${HostPorts.axi.addressWidth} address bits, " +
        s"${HostPorts.axi.dataWidth} data bits. A write's response means that the host sees it.")
    val interrupt = hasHost generate out(Bits(config.hostPorts bits)).note(
      "A level for each port; falls when the host writes `notificationHead`.")

    val trace = master(Flow(TraceRecord(config))).note(
      "A record for each event, in order: `DOWNBEAT_TRACE_RECORD_...` in downbeat_layout.h. Leave open if unused.")
    val counters =
      out(Counters(config.counterBits, hasVlans = config.vlans > 0, hasEcc = config.ecc)).note(
        s"What was dropped or cut, by cause, since reset; modulo 2^${config.counterBits}.")
  }
  noIoPrefix()
  if (config.externalMemory) Axi4SpecRenamer(io.m_axi)
  if (hasHost) Axi4SpecRenamer(io.m_axi_host)

  private val now = Stamp()
  now.assignFromBits(io.now.asBits)
  private val local = LocalAddresses()
  local.mac := io.local_mac
  local.ip := io.local_ip
  private val network = LocalNetwork()
  network.netmask := io.local_netmask
  network.gateway := io.local_gateway
  private val vlans = (config.vlans > 0) generate Vlan.fromPort(io.local_vlans)

  // ---- the modules, in a packet's order; modules that are idle during bulk transfer are clock-gated in simulation

  private val receiver = RestingClock(Receiver(config))(_.io.idle)
  // an armed deadline keeps its clock running
  private val neighbour =
    RestingClock(Neighbour(config))(module => module.io.idle && !module.io.next.armed)
  private val directory = RestingClock(FlowDirectory(config))(module => module.io.idle && !module.io.next.armed)
  private val engine = // a descriptor that leaves in this clock must be gone in the next one
    RestingClock(FlowEngine(config))(module => module.io.waits && !module.io.descriptors.fire)
  private val pacer = Pacer(config)
  private val timers = Timers(config)
  private val placementWriter = RestingClock(PlacementWriter(config))(_.io.idle)
  private val payloadMemory = PayloadMemory(config)
  private val receiveBuffer = RestingClock(ReceiveBuffer(config))(_.io.idle)
  private val sendBuffer = SendBuffer(config)
  private val payloadFetch = BurstReader(config, config.sendBufferBytes, base = 0, lengthBits = 14)
  private val transmitter = Transmitter(config)
  private val commandPort = CommandPort(config)
  private val notifier = Notifier(config)
  private val host = hasHost generate HostInterface(config)
  private val reports = config.pathReports generate PathReportQueue(config)

  /** A module's stream with two users: the application's streams and the host's rings. */
  private def ofBoth[T <: Data](own: Stream[T], ofHost: HostInterface => Stream[T]): Stream[T] =
    if (!hasHost) own
    else RegisteredHandshake(StreamArbiterFactory().roundRobin.transactionLock.onArgs(own, ofHost(host)))

  // ---- wire in -> parsed segment -> its flow -> event

  receiver.io.local := local
  if (config.vlans > 0) receiver.io.vlans := vlans
  receiver.io.wire << FramePorts.readReceived(io.s_axis_wire_rx)
  directory.io.now := now
  directory.io.localIp := io.local_ip
  directory.io.network := network
  directory.io.moves << neighbour.io.moves
  directory.io.secret := io.secret
  directory.io.segments << RegisteredHandshake(
    StreamArbiterFactory().lowerFirst.transactionLock.onArgs(receiver.io.segments, neighbour.io.icmpErrors))
  engine.io.now := now
  engine.io.directory << directory.io.events
  directory.io.handshakeOver << engine.io.handshakeOver
  directory.io.ended << engine.io.ended
  directory.io.timestampClock := engine.io.timestampClock

  // ---- booking -> grant, deadline -> timer: the engine's events that come from the time

  pacer.io.now := now
  pacer.io.bookings << engine.io.bookings
  engine.io.grants << pacer.io.grants
  timers.io.now := now
  timers.io.deadlines << engine.io.deadlines
  engine.io.timers << timers.io.expired

  // ---- event -> descriptor -> segment -> wire out -> departure

  transmitter.io.local := local
  if (config.vlans > 0) transmitter.io.vlans := vlans
  transmitter.io.descriptors << engine.io.descriptors
  transmitter.io.statelessReplies << directory.io.statelessReplies
  transmitter.io.addressRead <> directory.io.addressRead(0)
  payloadFetch.io.transfers << transmitter.io.fetch
  transmitter.io.payload << payloadFetch.io.data
  transmitter.io.payloadFailed := payloadFetch.io.failed
  payloadMemory.io.fetch <> payloadFetch.io.axi
  FramePorts.writeTransmitted(io.m_axis_wire_tx, transmitter.io.wire)
  transmitter.io.departures.valid := io.s_axis_departure.tvalid
  transmitter.io.departures.payload.assignFromBits(io.s_axis_departure.tdata)
  engine.io.departed << transmitter.io.departed
  directory.io.released << transmitter.io.released

  // ---- received payload -> memory -> application

  placementWriter.io.placements << InTurn(
    engine.io.placements, directory.io.discards.map((slot: UInt) => Placement.discard(config, slot)))
  receiver.io.slotRead <> placementWriter.io.slotRead
  receiver.io.slotFree << placementWriter.io.slotFree
  payloadMemory.io.place <> placementWriter.io.axi
  engine.io.placed << InTurn(
    placementWriter.io.placed, transmitter.io.fetchFailures.map(PlacedEvent.ofFailedFetch(config, _)))

  receiveBuffer.io.opened << engine.io.synchronized
  receiveBuffer.io.received.valid := // after a refused write the memory does not hold the peer's data
    engine.io.status.valid && engine.io.status.reason =/= CloseReason.memoryError
  receiveBuffer.io.received.flow := engine.io.status.reference.flow
  receiveBuffer.io.received.sequence.value := // FIN takes a sequence number, but no byte
    engine.io.status.received.value - engine.io.status.peerFinished.asUInt
  receiveBuffer.io.requests << commandPort.io.requests
  payloadMemory.io.deliver <> receiveBuffer.io.axi
  if (config.externalMemory) io.m_axi << payloadMemory.io.memory
  io.m_axis_rx.fromStream(receiveBuffer.io.data) { beat: DeliveredBeat =>
    io.m_axis_rx.tuser := beat.error.asBits
    io.m_axis_rx.tdata := beat.data
    io.m_axis_rx.tkeep := beat.keep
    io.m_axis_rx.tlast := beat.last
    io.m_axis_rx.tdest := beat.flow
  }

  // ---- application -> memory -> event

  private val opened = directory.io.events.toFlowFire.takeWhen(directory.io.events.open || directory.io.events.fresh)
  sendBuffer.io.opened << opened.map { event =>
    val position = FlowPosition(config)
    position.flow := event.reference.flow
    position.sequence := event.initialSequence + U(1)
    position
  }.m2sPipe
  sendBuffer.io.acknowledged.valid := engine.io.status.valid
  sendBuffer.io.acknowledged.flow := engine.io.status.reference.flow
  sendBuffer.io.acknowledged.sequence := engine.io.status.acknowledged
  sendBuffer.io.data << io.s_axis_tx.toStream(ApplicationBeat(config)) { beat =>
    beat.data := io.s_axis_tx.tdata
    beat.keep := io.s_axis_tx.tkeep
    beat.last := io.s_axis_tx.tlast
    beat.flow := io.s_axis_tx.tdest
    beat.urgent := io.s_axis_tx.tuser.asBool
  }
  payloadMemory.io.accept <> sendBuffer.io.axi
  private val ownEvents = Seq(sendBuffer.io.written, receiveBuffer.io.consumed, commandPort.io.events)
  engine.io.application << InTurn(ownEvents ++ Option(host).map(_.io.events): _*)

  // ---- commands and notifications

  commandPort.io.commands << io.s_axis_command.toStream(Command(config)) { command =>
    command.assignFromBits(io.s_axis_command.word)
    if (hasHost) command.parameters.owner.removeAssignments() := 0
  }
  commandPort.io.framesBegun := sendBuffer.io.begun
  commandPort.io.framesReported := sendBuffer.io.framesReported
  commandPort.io.receiveIdle := receiveBuffer.io.idle
  sendBuffer.io.hold := commandPort.io.holds
  if (config.hostStart)
    commandPort.io.started << engine.io.started.takeWhen(engine.io.started.isFor(hosts = false))
  neighbour.io.opens << ofBoth(commandPort.io.opens, _.io.opens)
  directory.io.opens << neighbour.io.resolved
  directory.io.listens << ofBoth(commandPort.io.listens, _.io.listens)
  if (config.policiesChoose) engine.io.policies << ofBoth(commandPort.io.policies, _.io.policies)
  notifier.io.status << (if (hasHost) host.io.othersStatus else engine.io.status)
  notifier.io.addressRead <> directory.io.addressRead(1)
  if (hasHost) {
    val refused = InTurn(directory.io.refused, neighbour.io.refused)
    val sides = StreamDemux(refused, (refused.owner =/= 0).asUInt, 2)
    notifier.io.refused << InTurn(sides(0), commandPort.io.refused)
    host.io.refusals << sides(1)
  } else notifier.io.refused << InTurn(directory.io.refused, neighbour.io.refused, commandPort.io.refused)
  io.m_axis_notification.fromStream(notifier.io.notifications) { notification: Notification =>
    io.m_axis_notification.tdata := notification.asBits.resized
  }

  if (config.pathReports) {
    reports.io.reports << (if (hasHost) host.io.othersReports else engine.io.pathReports)
    io.m_axis_path_report.fromStream(reports.io.newest) { report: PathReport =>
      io.m_axis_path_report.tdata := report.asBits.resized
    }
  }

  // ---- the host

  if (hasHost) {
    host.io.now := now.instant
    host.io.setUp := io.host_set_up
    io.host_shown := host.io.shown
    host.io.doorbells << io.host_doorbells
    io.m_axi_host << host.io.rings
    io.interrupt := host.io.interrupt
    host.io.opened << opened.map(HostOpened.of(config, _)).m2sPipe
    host.io.sends << sendBuffer.io.opened
    host.io.receives << engine.io.synchronized
    host.io.status << engine.io.status
    if (config.pathReports) host.io.reports << engine.io.pathReports
    if (config.hostStart) host.io.started << engine.io.started.takeWhen(engine.io.started.isFor(hosts = true))
    host.io.addressRead <> directory.io.addressRead(2)
    host.io.departed << transmitter.io.departed.toFlowFire.map(SegmentStamp.departed(config, _))
    host.io.received << directory.io.events.toFlowFire.takeWhen(SegmentStamp.isReceived(directory.io.events.payload))
      .map(SegmentStamp.received(config, _))
  }

  // ---- neighbours, and the frames of others; ARP and echo replies join the frames of others

  neighbour.io.now := now
  neighbour.io.local := local
  neighbour.io.network := network
  if (config.vlans > 0) neighbour.io.vlans := vlans
  neighbour.io.control << receiver.io.control
  neighbour.io.statics << io.s_axis_neighbour.toStream(StaticNeighbour(config.vlanBits))(
    _.assignFromBits(io.s_axis_neighbour.word))
  io.address_conflict := neighbour.io.conflict
  FramePorts.writeReceived(io.m_axis_bypass_rx, receiver.io.bypass)
  private val bypass = FramePorts.readFrames(io.s_axis_bypass_tx).map { frame =>
    val whole = FrameBeat(config.vlanBits, config.beatBytes) // any tag is in its bytes
    whole.takesBytes(frame)
    whole.vlan := 0
    whole
  }
  transmitter.io.bypass <<
    StreamArbiterFactory().roundRobin.lambdaLock[FrameBeat](_.last).onArgs(neighbour.io.frames, bypass)

  // ---- records, counters, idle

  io.trace << engine.io.trace
  io.counters.receive := receiver.io.drops
  io.counters.directory := directory.io.drops
  io.counters.neighbour := neighbour.io.drops
  io.counters.ignoredIcmpErrors := engine.io.ignoredIcmpErrors
  io.counters.stalledCloses := engine.io.stalledCloses
  if (config.vlans > 0) io.counters.otherVlan := receiver.io.otherVlan
  if (config.ecc) {
    io.counters.correctedFlips := Tally(FlipCounts.corrected(this), config.counterBits)
    io.counters.uncorrectableFlips := Tally(FlipCounts.uncorrectable(this), config.counterBits)
  }
  io.counters.suppressedChallenges := RegNext(engine.io.suppressedChallenges + directory.io.suppressedChallenges) init 0
  io.counters.duplicateSacks := engine.io.duplicateSacks
  io.counters.tailLossProbes := engine.io.tailLossProbes
  io.counters.undoneReductions := engine.io.undoneReductions
  io.counters.staleStamps := transmitter.io.staleStamps
  io.counters.sendOverruns := sendBuffer.io.overruns
  io.counters.receiveUnderruns := receiveBuffer.io.underruns
  io.counters.unknownCommands := commandPort.io.unknown
  io.counters.memory.place := placementWriter.io.writeErrors
  io.counters.memory.accept := sendBuffer.io.writeErrors
  io.counters.memory.fetch := transmitter.io.fetchErrors
  io.counters.memory.deliver := receiveBuffer.io.readErrors

  private val idles = Seq(
    directory.io.idle, engine.io.idle, pacer.io.idle, timers.io.idle, commandPort.io.idle, notifier.io.idle,
    receiver.io.idle, placementWriter.io.idle, payloadMemory.io.idle, receiveBuffer.io.idle, sendBuffer.io.idle,
    payloadFetch.io.idle, transmitter.io.idle, neighbour.io.idle)
  io.idle := CoreIdle(idles ++ Option(host).map(_.io.idle) ++ Option(reports).map(_.io.idle): _*)
  private val instants = Seq(pacer.io.next, timers.io.next, directory.io.next, neighbour.io.next)
  io.nextDeadline := CoreIdle.nextDeadline(instants ++ Option(host).toSeq.flatMap(_.io.next): _*)
}
