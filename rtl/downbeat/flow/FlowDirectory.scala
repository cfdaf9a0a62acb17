// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.DownbeatConfig
import downbeat.engine.DirectoryEvent
import downbeat.rx.{ReceivedSegment, ReportKind}
import downbeat.time.Stamp
import downbeat.tx.StrayReset
import spinal.core._
import spinal.lib._

/** What the directory had to drop, since reset; the counters wrap. */
case class DirectoryDrops() extends Bundle {
  /** SYNs for a listening port while no flow was free, and such whose buckets of the hash table were both full. The
    * peer tries again.
    */
  val synNoFlow, synNoBucket = UInt(32 bits)
  /** Any other segment of no connection, answered by a RST or not (RFC 9293 3.10.7.1 and 3.10.7.2). */
  val noConnection = UInt(32 bits)
  /** An answer to a stray segment, because too many waited. */
  val resets = UInt(32 bits)
  /** ICMP errors about segments of no connection. */
  val reports = UInt(32 bits)
}

/** Which connection is meant: from 4-tuple to flow, and the making and unmaking of flows.
  *
  * Segments, open requests and released flows stand in one line for the lookup. What the lookup answers is acted upon
  * before the next answer, so each sees what those before it have done, and segments of one flow stay in order.
  *
  * The initial sequence number (RFC 9293 3.4.1) is a clock of 4.096 us plus a keyed hash of the 4-tuple. The hash has a
  * 64-bit key, and our own address is not in it: RFC 6528 is met in form until a PRF with a longer key takes its place.
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

  // ---- into the line: a segment waits beside it, only its 4-tuple goes in

  private val sweeping = RegNext(lookup.io.sweeping || free.io.sweeping) init True
  private val waiting = new StreamFifo(ReceivedSegment(config), 8, forFMax = true)
  // As many places for tuples as for segments.
  private val asking = new StreamFifo(FlowTuple(), 8, withAsyncRead = true, forFMax = true)
  waiting.io.push << io.segments.haltWhen(sweeping)
  asking.io.push.valid := waiting.io.push.fire
  asking.io.push.payload.assignSomeByName(io.segments.payload)

  private def request(kind: LookupKind.E)(tuple: FlowTuple): LookupRequest = {
    val request = LookupRequest()
    request.kind := kind
    request.tuple := tuple
    request
  }
  lookup.io.secret := io.secret
  lookup.io.requests << StreamArbiterFactory().lowerFirst.noLock.onArgs(
    releaser.io.asks.map(request(LookupKind.release)),
    opener.io.asks.haltWhen(sweeping).map(request(LookupKind.open)),
    asking.io.pop.map(request(LookupKind.segment))).halfPipe()

  opener.io.opens << io.opens
  listeners.io.listens << io.listens
  releaser.io.released << io.released
  connections.io.keyRead.enable := lookup.io.keyRead.enable || releaser.io.keyRead.enable
  connections.io.keyRead.flow := lookup.io.keyRead.enable ? lookup.io.keyRead.flow | releaser.io.keyRead.flow
  lookup.io.keyRead.key := connections.io.keyRead.key
  releaser.io.keyRead.key := connections.io.keyRead.key
  releaser.io.keyBusy := lookup.io.keyRead.enable
  for ((outside, inside) <- io.addressRead.zip(connections.io.addressRead)) outside <> inside

  // ---- out of the line: what becomes of it is decided in one clock and done in the next

  private val answer = lookup.io.answers
  private val segment = waiting.io.pop
  private val opening = opener.io.current
  listeners.io.port := answer.request.tuple.localPort

  private val findings = DirectoryFindings()
  findings.kind := answer.request.kind
  findings.found := answer.found
  findings.room := answer.room
  findings.flowFree := free.io.next.valid
  findings.flags := segment.flags
  findings.isReport := segment.report =/= ReportKind.none
  findings.listening := listeners.io.listening
  findings.portFree := opener.io.ready && !(opener.io.ephemeral && listeners.io.listening)
  private val verdict = RegNextWhen(DirectoryVerdict(findings), answer.valid)
  private val events = Stream(DirectoryEvent(config))
  private val decided = RegInit(False)
  private val acts = decided && events.ready
  decided := answer.valid && !acts
  answer.ready := acts
  segment.ready := acts && verdict.isSegment
  releaser.io.done := acts && verdict.isRelease

  free.io.next.ready := acts && verdict.made
  free.io.released.valid := acts && verdict.over
  free.io.released.payload := answer.reference
  assert(!(acts && verdict.isRelease && !verdict.found), "a flow was released that has no connection")

  lookup.io.change.valid := acts && (verdict.made || verdict.over)
  lookup.io.change.enter := !verdict.isRelease
  lookup.io.change.flow := free.io.next.flow

  opener.io.verdict.valid := acts && verdict.isOpen
  opener.io.verdict.opened := verdict.opened
  opener.io.verdict.found := verdict.found
  opener.io.verdict.listening := verdict.listening
  opener.io.verdict.visible := answer.visible

  connections.io.write.valid := acts && verdict.made
  connections.io.write.flow := free.io.next.flow
  connections.io.write.generation := free.io.next.generation
  private val addresses = connections.io.write.addresses
  addresses.remoteMac := verdict.isOpen ? opening.remoteMac | segment.remoteMac
  addresses.remoteIp := answer.request.tuple.remoteIp
  addresses.remotePort := answer.request.tuple.remotePort
  addresses.localPort := answer.request.tuple.localPort
  addresses.passive := !verdict.isOpen
  addresses.request := verdict.isOpen ? opening.request | U(0, 16 bits)

  events.valid := decided && (verdict.made || verdict.known)
  events.payload.assignSomeByName(segment.payload)
  events.open := verdict.isOpen
  events.fresh := verdict.accepted
  events.reference := verdict.made ? free.io.next.payload | answer.reference
  events.parameters := verdict.isOpen ? opening.parameters | listeners.io.parameters
  events.initialSequence.value := io.now.ns(43 downto 12) + answer.visible
  events.timestampOffset := 0
  io.events << events.halfPipe()

  resets.io.strays.valid := acts && verdict.stray
  resets.io.strays.payload := segment.payload
  io.strays << resets.io.resets

  // There are no more slots than places here.
  private val discards = StreamFifo(UInt(config.slotBits bits), config.payloadSlots)
  discards.io.push.valid := acts && verdict.lost && segment.payload.payload.held
  discards.io.push.payload := segment.payload.payload.slot
  io.discards << discards.io.pop

  io.refused << StreamArbiterFactory().roundRobin.on(Seq(opener.io.refused, listeners.io.refused))

  // ---- what is told of it

  private def count(event: Bool): UInt = {
    val total = Reg(UInt(32 bits)) init 0
    when(RegNext(event) init False)(total := total + 1)
    total
  }
  io.drops.synNoFlow := count(acts && verdict.noFlow)
  io.drops.synNoBucket := count(acts && verdict.noBucket)
  io.drops.noConnection := count(acts && verdict.lost && !verdict.noFlow && !verdict.noBucket)
  io.drops.resets := resets.io.dropped
  io.drops.reports := count(acts && verdict.aboutNobody)

  io.freeFlows := free.io.count
  private val lineEmpty = waiting.io.occupancy === 0 && !lookup.io.requests.valid && lookup.io.empty
  private val outputsEmpty = discards.io.occupancy === 0 && resets.io.idle && !io.events.valid
  io.idle := !sweeping && lineEmpty && outputsEmpty && opener.io.idle && listeners.io.idle && releaser.io.idle
}
