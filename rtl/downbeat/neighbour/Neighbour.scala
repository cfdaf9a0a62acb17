// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.lib.RegisteredHandshake
import downbeat.messages.{
  ControlBeat, IcmpErrorKind, LocalAddresses, LocalNetwork, NeighbourDrops, NextHopMove, NextInstant, OpenCommand,
  OpenRequest, ReceivedSegment, Refusal, StaticNeighbour, Vlan
}
import downbeat.time.Stamp
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** ARP and ICMP: finds the MAC address behind an IP address, answers for our own address, answers echo requests, and
  * reads ICMP errors.
  *
  * No input ever waits here. What does not fit is dropped and counted.
  */
case class Neighbour(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    val local = in(LocalAddresses())
    val network = in(LocalNetwork())
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan()))
    val statics = slave(Stream(StaticNeighbour(config.vlanBits)))
    /** ARP and ICMP as received. */
    val control = slave(Stream(ControlBeat(config.vlanBits, config.beatBytes)))
    /** ARP and echo replies to send. */
    val frames = master(Stream(FrameBeat(config.vlanBits, config.beatBytes)))
    /** ICMP errors as the flow directory takes them: of our own segment, both ends in their places. */
    val icmpErrors = master(Stream(ReceivedSegment(config)))
    /** Connections to open, on their way to the directory. */
    val opens = slave(Stream(OpenCommand(config)))
    val resolved = master(Stream(OpenRequest(config)))
    val refused = master(Stream(Refusal(config)))
    /** A neighbour's MAC, which running connections take. */
    val moves = master(Stream(NextHopMove(config.vlanBits)))
    /** Another station uses our address, or did in the last ten seconds. */
    val conflict = out Bool ()
    val drops = out(NeighbourDrops.counters(config.counterBits))
    val next = out(NextInstant())
    val idle = out Bool ()
  }
  noIoPrefix()

  val reader = ControlReader(config)
  val arp = ArpParser()
  val icmp = IcmpParser(config)
  val echo = EchoResponder(config)
  val defence = AddressDefence(config.vlanBits)
  val table = NeighbourTable(config.vlanBits)
  val nextHop = NextHop(config)
  val sender = ArpSender(config.vlanBits)

  private val now = RegNext(io.now.instant)
  private val happened = NeighbourDrops(Bool())

  // ---- received frames

  private val isWide = config.beatBytes > 8
  if (isWide) {
    val narrower = ControlNarrower(config)
    narrower.io.wide << io.control
    reader.io.control << narrower.io.narrow.m2sPipe()
  } else reader.io.control << io.control
  arp.io.local := io.local
  arp.io.words << reader.io.words
  arp.io.bytes := reader.io.bytes
  arp.io.judge := reader.io.judgeArp
  icmp.io.local := io.local
  icmp.io.words << reader.io.words
  icmp.io.bytes := reader.io.bytes
  icmp.io.vlan := reader.io.vlan
  icmp.io.judge := reader.io.judgeIcmp
  echo.io.local := io.local
  echo.io.beats << reader.io.beats
  echo.io.judge := reader.io.judgeArp || reader.io.judgeIcmp
  echo.io.echo << icmp.io.echo

  /** A queue of four words that drops what does not fit. */
  private def line[T <: Data](flow: Flow[T], overflow: Bool): Stream[T] = {
    val pushed = flow.toStream
    val fifo = StreamFifo(flow.payloadType, 4, latency = 1)
    fifo.io.push << pushed
    overflow := pushed.isStall
    fifo.io.pop
  }

  // ---- addresses

  private val packet = arp.io.packets
  private val replies =
    line(packet.takeWhen(packet.isRequestForUs).translateWith(ArpMessage.reply(packet.senderMac, packet.senderIp,
          reader.io.vlan)),
      happened.replyOverflow)
  private val learnt = line({
      val learnt = LearntNeighbour(config.vlanBits)
      learnt.vlan := reader.io.vlan
      learnt.ip := packet.senderIp
      learnt.mac := packet.senderMac
      learnt.enter := packet.isRequestForUs
      packet.takeWhen(packet.namesSender).translateWith(learnt)
    }, happened.learntOverflow)
  defence.io.now := now
  defence.io.ip := io.local.ip
  private val conflict = packet.valid && packet.conflicts
  defence.io.conflict := RegNext(conflict) init False
  defence.io.vlan := RegNext(reader.io.vlan)
  io.conflict := defence.io.active
  table.io.now := now
  table.io.learnt << learnt
  table.io.statics << io.statics
  io.moves << table.io.moves
  nextHop.io.ip := io.local.ip
  nextHop.io.network := io.network
  if (config.vlans > 0) nextHop.io.vlans := io.vlans
  nextHop.io.opens << io.opens
  table.io.lookups << nextHop.io.lookups
  // A job of the table is long: its next word comes many clocks later.
  nextHop.io.results << table.io.results.m2sPipe()
  nextHop.io.notices << table.io.notices.m2sPipe()
  io.resolved << nextHop.io.resolved
  io.refused << nextHop.io.refused

  // ---- frames to send

  sender.io.local := io.local
  sender.io.messages << StreamArbiterFactory().roundRobin.transactionLock.onArgs(
    table.io.requests.halfPipe(), RegisteredHandshake(replies), defence.io.announcements)
  private val echoes = echo.io.replies.pipelined(StreamPipe.FULL)
  private val frames = StreamArbiterFactory().roundRobin.lambdaLock[FrameBeat](_.last).onArgs(sender.io.frames, echoes)
  private val leaving = frames.pipelined(StreamPipe.FULL)
  if (isWide) {
    val widener = FrameWidener(config)
    widener.io.narrow << leaving
    io.frames << widener.io.wide
  } else io.frames << leaving

  private val icmpErrors = line(icmp.io.icmpErrors, happened.icmpErrorOverflow).halfPipe()
  io.icmpErrors << icmpErrors.map { icmpError =>
    val segment = ReceivedSegment.ofIcmpError(config, icmpError.kind)
    segment.vlan := icmpError.vlan
    segment.remoteIp := icmpError.remoteIp
    segment.remotePort := icmpError.remotePort
    segment.localPort := icmpError.localPort
    segment.sequence := icmpError.sequence
    segment.window := (icmpError.kind === IcmpErrorKind.tooBig) ? icmpError.segmentSize | icmpError.error.asBits.asUInt.resize(
      16)
    segment
  }

  // ---- counters and status

  happened.arpMalformed := arp.io.malformed
  happened.conflicts := conflict
  happened.staticNoPlace := table.io.noPlace
  happened.icmp := icmp.io.drops
  happened.echoOverflow := echo.io.overflow
  io.drops := NeighbourDrops.count(happened, config.counterBits)

  io.next := NextInstant.earlier(table.io.next, defence.io.next)

  private val waiting =
    Seq(learnt.valid, replies.valid, icmpErrors.valid, leaving.valid, io.frames.valid, sender.io.frames.valid,
      echoes.valid)
  private val quiet =
    Seq(reader.io.idle, echo.io.idle, defence.io.idle, table.io.idle, nextHop.io.idle).andR && !waiting.orR
  // Lines and counters show a clock later what is in them.
  io.idle := quiet && (RegNext(quiet) init False)
}
