// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.{RegisteredHandshake, RestingClock}
import downbeat.memory.{BurstReader, PayloadMemory, PlacementWriter, ReceiveBuffer, SendBuffer}
import downbeat.messages.{
  ApplicationBeat, CloseReason, Command, Counters, DeliveredBeat, FlowPosition, LocalAddresses, Notification, PlacedEvent, Placement,
  StaticNeighbour, TraceRecord
}
import downbeat.neighbour.{LocalNetwork, Neighbour}
import downbeat.rx.Receiver
import downbeat.time.Stamp
import downbeat.tx.Transmitter
import downbeat.wire.{AxiStream, DepartureStamp, FrameBeat, ReceivedBeat, TransmitBeat}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4SpecRenamer}

/** The core, from frame stream to frame stream.
  *
  * One clock `clk`, one synchronous active-high `reset`. TDATA byte 0 is the first byte of the wire.
  */
case class Downbeat(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** Time: ns in bits 63 to 16, fraction below. Monotone; may jump forward by any amount. */
    val now = in UInt (64 bits)
    /** Nothing moves before `nextDeadline` or an input. */
    val idle = out Bool ()
    /** ns; may be early, never late; all ones: never. */
    val nextDeadline = out UInt (48 bits)

    val local_mac = in Bits (48 bits) // first byte of the wire in bits 47 to 40
    val local_ip = in UInt (32 bits)
    val local_netmask = in UInt (32 bits) // leading ones; zero: every address is on our network
    val local_gateway = in UInt (32 bits) // to all other networks; zero: none
    /** Static neighbours: TDATA 31..0 IP, 79..32 MAC, 80 remove. */
    val s_axis_neighbour = slave(AxiStream(81))
    /** Somebody else uses our IP address, or did in the last ten seconds. */
    val address_conflict = out Bool ()
    /** Keys all hashes: initial sequence numbers, ephemeral ports, cookies, the flow lookup. Random, constant from reset on. */
    val secret = in Bits (128 bits)

    /** Frames from the MAC without FCS. TUSER: 63..0 SFD stamp (first beat), 64 damaged (last beat). */
    val s_axis_wire_rx = slave(AxiStream(64, packet = true, userBits = 65))
    /** Frames to the MAC. TUSER: 63..0 launch time, 65..64 mode (0 at, 1 asap, 2 afterPrevious), 81..66 tag (0: no stamp wanted). */
    val m_axis_wire_tx = master(AxiStream(64, packet = true, userBits = 82))
    /** SFD stamps of tagged frames: TDATA 15..0 tag, 79..16 stamp. */
    val s_axis_departure = slave(AxiStream(80, stalls = false))
    /** Received frames that are not ours (TUSER as they came in), and frames of others to send. */
    val m_axis_bypass_rx = master(AxiStream(64, packet = true, userBits = 65))
    val s_axis_bypass_tx = slave(AxiStream(64, packet = true))

    /** Commands and notifications, one a beat; fields as in downbeat_layout.h. */
    val s_axis_command = slave(AxiStream(Command(config).getBitsWidth))
    val m_axis_notification = master(AxiStream(Notification(config).getBitsWidth))
    /** Application data to send and received; TDEST is the flow. To send: TUSER is 1 in the last beat of a frame that ends urgent data.
      * Received: TUSER is 1 in the last beat of a frame whose bytes the memory refused, so that none of it may be believed.
      */
    val s_axis_tx = slave(AxiStream(64, packet = true, userBits = 1, destBits = config.flowBits))
    val m_axis_rx = master(AxiStream(64, packet = true, userBits = 1, destBits = config.flowBits))

    /** Payload memory, when it is outside: 64 bits, INCR bursts of up to 256 beats within 2 KiB, several outstanding; addresses from
      * 0, to be put on a multiple of 4 KiB. Responses of one identifier come in order; those of different ones as they like.
      */
    val m_axi = config.externalMemory generate master(Axi4(config.memory))

    /** One record for each event, in order; leave open if unused. */
    val trace = master(Flow(TraceRecord(config)))
    /** What was dropped or cut, by cause: since reset, modulo 2^counterBits. */
    val counters = out(Counters(config.counterBits))
  }
  noIoPrefix()
  if (config.externalMemory) Axi4SpecRenamer(io.m_axi)

  private val now = Stamp()
  now.assignFromBits(io.now.asBits)
  private val local = LocalAddresses()
  local.mac := io.local_mac
  local.ip := io.local_ip
  private val network = LocalNetwork()
  network.netmask := io.local_netmask
  network.gateway := io.local_gateway

  // ---- the modules, in the order in which a packet meets them; those rest that have no part in most clocks of a flow of data

  private val receiver = RestingClock(Receiver(config))(_.io.idle)
  private val neighbour = RestingClock(Neighbour(config))(module => module.io.idle && !module.io.next.armed) // time too wakes it
  private val modules = new EngineModules(config, now, io.local_ip, io.secret, io.s_axis_command, io.m_axis_notification).setName("")
  import modules._ // directory, engine with pacer and timers, command port and notifier
  private val placementWriter = RestingClock(PlacementWriter(config))(_.io.idle)
  private val payloadMemory = PayloadMemory(config)
  private val receiveBuffer = RestingClock(ReceiveBuffer(config))(_.io.idle)
  private val sendBuffer = SendBuffer(config)
  private val payloadFetch = BurstReader(config, config.sendBufferBytes, base = 0, lengthBits = 14)
  private val transmitter = Transmitter(config)

  // ---- wire in -> parsed segment -> its flow -> event

  receiver.io.local := local
  receiver.io.wire << io.s_axis_wire_rx.toStream(ReceivedBeat()) { beat =>
    beat.frame.data := io.s_axis_wire_rx.tdata
    beat.frame.keep := io.s_axis_wire_rx.tkeep
    beat.frame.last := io.s_axis_wire_rx.tlast
    beat.stamp.assignFromBits(io.s_axis_wire_rx.tuser(63 downto 0))
    beat.error := io.s_axis_wire_rx.tuser(64)
  }
  directory.io.segments <<
    RegisteredHandshake(StreamArbiterFactory().lowerFirst.transactionLock.onArgs(receiver.io.segments, neighbour.io.icmpErrors))

  // ---- event -> grant -> segment -> wire out

  transmitter.io.local := local
  transmitter.io.descriptors << engine.io.descriptors
  transmitter.io.statelessReplies << directory.io.statelessReplies
  transmitter.io.addressRead <> directory.io.addressRead(0)
  payloadFetch.io.transfers << transmitter.io.fetch
  transmitter.io.payload << payloadFetch.io.data
  transmitter.io.payloadFailed := payloadFetch.io.failed
  payloadMemory.io.fetch <> payloadFetch.io.axi
  transmitter.io.departures.valid := io.s_axis_departure.tvalid
  transmitter.io.departures.payload.assignFromBits(io.s_axis_departure.tdata)
  engine.io.departed << transmitter.io.departed
  directory.io.released << transmitter.io.released
  io.m_axis_wire_tx.fromStream(transmitter.io.wire) { beat: TransmitBeat =>
    io.m_axis_wire_tx.tdata := beat.frame.data
    io.m_axis_wire_tx.tkeep := beat.frame.keep
    io.m_axis_wire_tx.tlast := beat.frame.last
    io.m_axis_wire_tx.tuser := beat.tag ## beat.mode.asBits ## beat.launch.asBits
  }

  // ---- received payload -> memory -> application

  placementWriter.io.placements << inTurn(engine.io.placements, directory.io.discards.map((slot: UInt) => Placement.discard(config, slot)))
  receiver.io.slotRead <> placementWriter.io.slotRead
  receiver.io.slotFree << placementWriter.io.slotFree
  payloadMemory.io.place <> placementWriter.io.axi
  engine.io.placed << inTurn(placementWriter.io.placed, transmitter.io.fetchFailures.map(PlacedEvent.ofFailedFetch(config, _)))

  receiveBuffer.io.opened << engine.io.synchronized
  receiveBuffer.io.received.valid := // what a refused write left in memory is not data
    engine.io.status.valid && engine.io.status.reason =/= CloseReason.memoryError
  receiveBuffer.io.received.flow := engine.io.status.reference.flow
  receiveBuffer.io.received.sequence.value := // FIN takes a number, but no byte
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

  sendBuffer.io.opened << directory.io.events.toFlowFire.takeWhen(directory.io.events.open || directory.io.events.fresh).map { event =>
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

  commandPort.io.framesBegun := sendBuffer.io.begun
  commandPort.io.framesTold := sendBuffer.io.told
  commandPort.io.receiveIdle := receiveBuffer.io.idle
  neighbour.io.opens << commandPort.io.opens
  directory.io.opens << neighbour.io.resolved
  engine.io.application << inTurn(sendBuffer.io.written, receiveBuffer.io.consumed, commandPort.io.events)

  notifier.io.refused << inTurn(directory.io.refused, neighbour.io.refused, commandPort.io.refused)

  // ---- neighbours

  neighbour.io.now := now
  neighbour.io.local := local
  neighbour.io.network := network
  neighbour.io.control << receiver.io.control
  neighbour.io.statics << io.s_axis_neighbour.toStream(StaticNeighbour())(_.assignFromBits(io.s_axis_neighbour.word))
  io.address_conflict := neighbour.io.conflict

  // ---- frames of others, which ARP and echo replies join

  io.m_axis_bypass_rx.fromStream(receiver.io.bypass) { beat: ReceivedBeat =>
    io.m_axis_bypass_rx.tdata := beat.frame.data
    io.m_axis_bypass_rx.tkeep := beat.frame.keep
    io.m_axis_bypass_rx.tlast := beat.frame.last
    io.m_axis_bypass_rx.tuser := beat.error ## beat.stamp.asBits
  }
  private val bypass = io.s_axis_bypass_tx.toStream(FrameBeat()) { beat =>
    beat.data := io.s_axis_bypass_tx.tdata
    beat.keep := io.s_axis_bypass_tx.tkeep
    beat.last := io.s_axis_bypass_tx.tlast
  }
  transmitter.io.bypass << StreamArbiterFactory().roundRobin.lambdaLock[FrameBeat](_.last).onArgs(neighbour.io.frames, bypass)

  // ---- what the outside may know

  io.trace << engine.io.trace
  io.counters.receive := receiver.io.drops
  io.counters.directory := directory.io.drops
  io.counters.neighbour := neighbour.io.drops
  io.counters.ignoredIcmpErrors := engine.io.ignoredIcmpErrors
  io.counters.suppressedChallenges := engine.io.suppressedChallenges
  io.counters.duplicateSacks := engine.io.duplicateSacks
  io.counters.staleStamps := transmitter.io.staleStamps
  io.counters.sendOverruns := sendBuffer.io.overruns
  io.counters.receiveUnderruns := receiveBuffer.io.underruns
  io.counters.unknownCommands := commandPort.io.unknown
  io.counters.memory.place := placementWriter.io.writeErrors
  io.counters.memory.accept := sendBuffer.io.writeErrors
  io.counters.memory.fetch := transmitter.io.fetchErrors
  io.counters.memory.deliver := receiveBuffer.io.readErrors

  io.idle := idleWith(engine.io.idle, receiver.io.idle, placementWriter.io.idle, payloadMemory.io.idle, receiveBuffer.io.idle,
    sendBuffer.io.idle, payloadFetch.io.idle, transmitter.io.idle, neighbour.io.idle)
  io.nextDeadline := nextDeadlineWith(neighbour.io.next)
}
