// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.DownbeatConfig
import downbeat.engine.DirectoryEvent
import downbeat.rx.ReceivedSegment
import downbeat.time.Stamp
import downbeat.tx.StrayReset
import spinal.core._
import spinal.lib._

/** What the directory had to drop, since reset; the counters wrap. */
case class DirectoryDrops() extends Bundle {
  /** A SYN for a listening port while no flow was free; and one whose buckets of the hash table were both full. The peer tries again. */
  val synNoFlow, synNoBucket = UInt(32 bits)
  /** An answer to a stray segment, because too many waited. */
  val resets = UInt(32 bits)
}

/** Which connection is meant: from 4-tuple to flow, and the making and unmaking of flows.
  *
  * Segments, open requests and released flows stand in one line for the lookup, and what the lookup answers is acted upon at once, so
  * that each sees what those before it have done. Segments of one flow stay in order. (RFC 9293 3.10.7.1 and 3.10.7.2: what a
  * segment gets that belongs to no connection.)
  *
  * The initial sequence number is (RFC 9293 3.4.1) a clock of 4.096 us plus a keyed hash of the 4-tuple. The hash has a 64-bit key and
  * our own address is not in it, so RFC 6528 is met in form only, until a PRF with a longer key takes its place.
  */
case class FlowDirectory(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    /** Keys the hash; constant while there are connections. */
    val secret = in Bits (64 bits)
    val segments = slave(Stream(ReceivedSegment(config)))
    val opens = slave(Stream(OpenRequest(config)))
    val listens = slave(Stream(ListenRequest(config)))
    /** Nothing of the flow's connection is left: once for each `fresh` or `open`. */
    val released = slave(Flow(UInt(config.flowBits bits)))

    val events = master(Stream(DirectoryEvent(config)))
    val strays = master(Stream(StrayReset()))
    /** Payload slots of segments that go nowhere. */
    val discards = master(Stream(UInt(config.slotBits bits)))
    val refused = master(Stream(Refusal()))
    val addressRead = Vec.fill(2)(slave(AddressReadPort(config)))

    val drops = out(DirectoryDrops())
    val freeFlows = out UInt (log2Up(config.flows + 1) bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val lookup = FlowLookup(config)
  private val connections = ConnectionTable(config, readers = 2)
  private val listeners = ListenerTable(config)
  private val free = FreeList(config)
  private val opener = OpenSequencer(config)
  private val releaser = ReleaseSequencer(config)
  private val resets = StrayAnswers(config)

  // Into the line: a segment waits beside it, only its 4-tuple goes in.
  private val sweeping = lookup.io.sweeping || free.io.sweeping
  private val waiting = StreamFifo(ReceivedSegment(config), 8)
  private val asking = io.segments.haltWhen(sweeping || !waiting.io.push.ready)
  waiting.io.push.valid := asking.fire
  waiting.io.push.payload := asking.payload

  private def request(kind: LookupKind.E, tuple: FlowTuple): LookupRequest = {
    val request = LookupRequest()
    request.kind := kind
    request.tuple := tuple
    request
  }
  private val tuple = FlowTuple()
  tuple.assignSomeByName(asking.payload)
  lookup.io.requests << StreamArbiterFactory().lowerFirst.noLock.onArgs(
    releaser.io.asks.map(request(LookupKind.release, _)),
    opener.io.asks.haltWhen(sweeping).map(request(LookupKind.open, _)),
    asking.translateWith(request(LookupKind.segment, tuple)))

  lookup.io.secret := io.secret
  opener.io.opens << io.opens
  listeners.io.listens << io.listens
  releaser.io.released << io.released
  connections.io.keyRead.enable := lookup.io.keyRead.enable || releaser.io.keyRead.enable
  connections.io.keyRead.flow := lookup.io.keyRead.enable ? lookup.io.keyRead.flow | releaser.io.keyRead.flow
  lookup.io.keyRead.key := connections.io.keyRead.key
  releaser.io.keyRead.key := connections.io.keyRead.key
  releaser.io.keyBusy := lookup.io.keyRead.enable
  for ((outside, inside) <- io.addressRead.zip(connections.io.addressRead)) outside <> inside

  // Out of the line: what becomes of it.
  private val answer = lookup.io.answers
  private val segment = waiting.io.pop
  private val events = Stream(DirectoryEvent(config))
  listeners.io.port := answer.request.tuple.localPort

  private val verdict = new Area {
    val isSegment = answer.request.kind === LookupKind.segment
    val isOpen = answer.request.kind === LookupKind.open
    val isRelease = answer.request.kind === LookupKind.release
    val flags = segment.flags
    val listening = listeners.io.listening

    val stranger = isSegment && !answer.found
    val asksToConnect = stranger && listening && flags.syn && !flags.ack && !flags.rst
    val available = free.io.next.valid && answer.room
    val accepted = asksToConnect && available
    val portFree = opener.io.ready && !answer.found && !(opener.io.ephemeral && listening)
    val opened = isOpen && portFree && available
    val made = accepted || opened
    // Without SYN and ACK there is nothing to answer on a port that listens (RFC 9293 3.10.7.2, fourth).
    val stray = stranger && !flags.rst && (flags.ack || !listening)
    val lost = stranger && !accepted
  }

  private val fires = answer.fire
  answer.ready := events.ready
  events.valid := answer.valid && (verdict.made || verdict.isSegment && answer.found)
  segment.ready := fires && verdict.isSegment

  free.io.next.ready := fires && verdict.made
  free.io.released.valid := fires && verdict.isRelease && answer.found
  free.io.released.payload := answer.reference
  releaser.io.done := fires && verdict.isRelease
  assert(!(fires && verdict.isRelease && !answer.found), "a flow was released that has no connection")

  lookup.io.change.valid := fires && (verdict.made || verdict.isRelease && answer.found)
  lookup.io.change.enter := !verdict.isRelease
  lookup.io.change.flow := free.io.next.flow

  opener.io.verdict.valid := fires && verdict.isOpen
  opener.io.verdict.opened := verdict.opened
  opener.io.verdict.found := answer.found
  opener.io.verdict.listening := verdict.listening
  opener.io.verdict.visible := answer.visible

  private val opening = opener.io.current
  connections.io.write.valid := fires && verdict.made
  connections.io.write.flow := free.io.next.flow
  connections.io.write.generation := free.io.next.generation
  private val addresses = connections.io.write.addresses
  addresses.remoteMac := verdict.isOpen ? opening.remoteMac | segment.remoteMac
  addresses.remoteIp := answer.request.tuple.remoteIp
  addresses.remotePort := answer.request.tuple.remotePort
  addresses.localPort := answer.request.tuple.localPort
  addresses.passive := !verdict.isOpen
  addresses.request := verdict.isOpen ? opening.request | U(0, 16 bits)

  events.payload.assignSomeByName(segment.payload)
  events.open := verdict.isOpen
  events.fresh := verdict.accepted
  events.reference := verdict.made ? free.io.next.payload | answer.reference
  events.parameters := verdict.isOpen ? opening.parameters | listeners.io.parameters
  events.initialSequence.value := io.now.ns(43 downto 12) + answer.visible
  io.events << events.m2sPipe()

  resets.io.strays.valid := fires && verdict.stray
  resets.io.strays.payload := segment.payload
  io.strays << resets.io.resets

  // There are no more slots than places here.
  private val discards = StreamFifo(UInt(config.slotBits bits), config.payloadSlots)
  discards.io.push.valid := fires && verdict.lost && segment.payload.payload.held
  discards.io.push.payload := segment.payload.payload.slot
  io.discards << discards.io.pop

  io.refused << StreamArbiterFactory().roundRobin.on(Seq(opener.io.refused, listeners.io.refused))

  private def count(event: Bool): UInt = {
    val total = Reg(UInt(32 bits)) init 0
    when(RegNext(event) init False)(total := total + 1)
    total
  }
  io.drops.synNoFlow := count(fires && verdict.asksToConnect && !free.io.next.valid)
  io.drops.synNoBucket := count(fires && verdict.asksToConnect && free.io.next.valid && !answer.room)
  io.drops.resets := resets.io.dropped

  io.freeFlows := free.io.count
  private val queuesEmpty = waiting.io.occupancy === 0 && discards.io.occupancy === 0 && resets.io.idle && !io.events.valid
  io.idle := !sweeping && lookup.io.empty && opener.io.idle && listeners.io.idle && releaser.io.idle && queuesEmpty
}
