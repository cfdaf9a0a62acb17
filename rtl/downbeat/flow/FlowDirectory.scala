// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.{Tally, WideQueue}
import downbeat.messages.{
  AddressReadPort, DirectoryDrops, DirectoryEvent, IcmpErrorKind, ListenRequest, OpenRequest, ReceivedSegment, Refusal,
  StatelessReply
}
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Maps the 4-tuple of a segment to its flow, and makes and releases flows.
  *
  * Segments, open requests and released flows share one queue to the lookup. The directory acts upon each answer before
  * the next one comes. So each lookup sees the effect of those before it, and segments of one flow stay in order.
  *
  * The initial sequence number is a clock of 4.096 us plus a hash of the 4-tuple ([[KeyedNumbers]], RFC 6528 3). The
  * queue waits for that number; of a connection's segments only a SYN needs one.
  *
  * While half of the flows are in handshakes, or none is free, a SYN is answered with a cookie ([[SynCookies]]). The
  * ACK that returns the cookie becomes two events: the SYN, rebuilt, with `cookie` set, and the ACK.
  */
case class FlowDirectory(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    /** Keys all hashes; constant from reset on. */
    val secret = in Bits (128 bits)
    val localIp = in UInt (32 bits)
    val segments = slave(Stream(ReceivedSegment(config)))
    val opens = slave(Stream(OpenRequest(config)))
    val listens = slave(Stream(ListenRequest(config)))
    /** Nothing of the flow's connection is left: once for each `fresh` or `open`. */
    val released = slave(Flow(UInt(config.flowBits bits)))
    /** The handshake of a connection that a SYN made is over, with success or not: once for each `fresh`. */
    val handshakeOver = slave(Flow(NoData()))

    val events = master(Stream(DirectoryEvent(config)))
    val statelessReplies = master(Stream(StatelessReply(config.vlanBits)))
    /** Payload slots of segments that go nowhere. */
    val discards = master(Stream(UInt(config.slotBits bits)))
    val refused = master(Stream(Refusal(config)))
    val addressRead = Vec.fill(FlowDirectory.addressReaders(config))(slave(AddressReadPort(config)))

    val drops = out(DirectoryDrops(config.counterBits))
    val freeFlows = out UInt (log2Up(config.flows + 1) bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val lookup = FlowLookup(config)
  private val connections = ConnectionTable(config, readers = FlowDirectory.addressReaders(config))
  private val listeners = ListenerTable(config)
  private val free = FreeList(config)
  private val opener = OpenSequencer(config)
  private val releaser = ReleaseSequencer(config)
  private val numbers = KeyedNumbers(config.vlanBits)
  private val cookies = SynCookies(config)
  private val replies = StatelessReplies(config)

  // ---- into the line: a segment waits beside it, only its 4-tuple goes in

  private val sweeping = RegNext(lookup.io.sweeping || free.io.sweeping || numbers.io.deriving) init True
  private val waiting = WideQueue(ReceivedSegment(config), 8)
  // As many places for tuples as for segments.
  private val lookups = new StreamFifo(FlowTuple(config.vlanBits), 8, withAsyncRead = true, forFMax = true)
  waiting.io.push << io.segments.haltWhen(sweeping)
  lookups.io.push.valid := waiting.io.push.fire
  lookups.io.push.payload.assignSomeByName(io.segments.payload)

  private def request(kind: LookupKind.E)(tuple: FlowTuple): LookupRequest = {
    val request = LookupRequest(config.vlanBits)
    request.kind := kind
    request.tuple := tuple
    request
  }
  lookup.io.key := numbers.io.lookupKey
  lookup.io.requests << StreamArbiterFactory().lowerFirst.noLock.onArgs(
    releaser.io.lookups.map(request(LookupKind.release)),
    opener.io.lookups.haltWhen(sweeping).map(request(LookupKind.open)),
    lookups.io.pop.map(request(LookupKind.segment))).halfPipe()

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

  private val result = lookup.io.results
  private val segment = waiting.io.pop.halfPipe()
  private val opening = opener.io.current
  listeners.io.port := result.request.tuple.localPort

  private val findings = DirectoryFindings()
  findings.kind := result.request.kind
  findings.found := result.found
  findings.space := result.space
  findings.flowFree := free.io.next.valid
  findings.flags := segment.flags
  findings.isIcmpError := segment.icmpError =/= IcmpErrorKind.none
  findings.listening := listeners.io.listening
  findings.crowded := cookies.io.full
  findings.cookiesExpected := cookies.io.expected
  findings.portWanted := !opener.io.ready
  findings.portFree := opener.io.ready && !(opener.io.ephemeral && listeners.io.listening)
  private val decided = RegInit(False)
  private val verdict = RegNextWhen(DirectoryVerdict(findings), result.valid && !decided)
  private val events = Stream(DirectoryEvent(config))
  /** It is done, and the next answer may come. */
  private val acts = Bool()

  numbers.io.secret := io.secret
  numbers.io.localIp := io.localIp
  private val number = new Area {
    private val request = numbers.io.request
    private val taken = RegInit(False) setWhen request.fire clearWhen acts
    /** It is there, and what follows from it. */
    val ready = RegInit(False) setWhen Delay(request.fire, 2, init = False) clearWhen acts
    request.valid := decided && verdict.wantsNumber && !taken
    request.tuple := result.request.tuple
    request.purpose := NumberPurpose.connection
    when(verdict.choosesPort)(request.purpose := NumberPurpose.port)
    private val ofCookie = verdict.postponed || verdict.returns
    when(ofCookie)(request.purpose := NumberPurpose.cookie)
    request.terms.assignFromBits(ofCookie ? cookies.io.terms.asBits | B(0, widthOf(request.terms) bits))

    cookies.io.segment := segment.payload
    cookies.io.requests := request.valid
    cookies.io.hash := numbers.io.number(31 downto 0)
    private val proven = decided && verdict.returns && cookies.io.proven
    /** Read when `ready`: the segment brings a cookie back; and there is place. */
    val returned = RegNext(proven) init False
    val introduces = RegNext(proven && verdict.available) init False
  }
  private val numbered = decided && (number.ready || !verdict.wantsNumber)
  /** The SYN to which the cookie was the answer has gone ahead. */
  private val introduced = RegInit(False)
  private val introducing = number.introduces && !introduced
  acts := numbered && events.ready && !introducing
  when(numbered && events.ready)(introduced := introducing)
  decided := result.valid && !acts
  private val made = verdict.made || number.introduces
  result.ready := acts
  segment.ready := acts && verdict.isSegment
  releaser.io.done := acts && verdict.isRelease

  free.io.next.ready := acts && made
  free.io.released.valid := acts && verdict.over
  free.io.released.payload := result.reference
  assert(!(acts && verdict.isRelease && !verdict.found), "a flow was released that has no connection")

  lookup.io.change.valid := acts && (made || verdict.over)
  lookup.io.change.enter := !verdict.isRelease
  lookup.io.change.flow := free.io.next.flow

  opener.io.verdict.valid := acts && verdict.isOpen
  opener.io.verdict.opened := verdict.opened
  opener.io.verdict.found := verdict.found
  opener.io.verdict.listening := verdict.listening
  opener.io.verdict.offset := numbers.io.number.resized

  connections.io.write.valid := numbered && events.ready && made
  connections.io.write.flow := free.io.next.flow
  connections.io.write.generation := free.io.next.generation
  private val addresses = connections.io.write.addresses
  addresses.remoteMac := verdict.isOpen ? opening.remoteMac | segment.remoteMac
  addresses.remoteIp := result.request.tuple.remoteIp
  addresses.remotePort := result.request.tuple.remotePort
  addresses.localPort := result.request.tuple.localPort
  addresses.vlan := result.request.tuple.vlan
  addresses.service := events.parameters.service.completed
  addresses.passive := !verdict.isOpen
  addresses.request := verdict.isOpen ? opening.request | U(0, 16 bits)

  events.valid := numbered && (made || verdict.known)
  events.payload.assignSomeByName(segment.payload)
  events.open := verdict.isOpen
  events.fresh := verdict.accepted || introducing
  events.cookie := introducing
  events.reference := made ? free.io.next.payload | result.reference
  events.parameters := verdict.isOpen ? opening.parameters | listeners.io.parameters
  events.initialSequence.value :=
    introducing ? cookies.io.claim | (io.now.ns(43 downto 12) + numbers.io.number(31 downto 0))
  events.timestampOffset := numbers.io.number(63 downto 32)
  when(introducing)(events.payload.becomesSyn(cookies.io.terms.sequence, cookies.io.mss))
  io.events << events.halfPipe()

  replies.io.statelessReplies.valid := acts && (verdict.stateless && !number.returned || verdict.postponed)
  replies.io.statelessReplies.segment := segment.payload
  replies.io.statelessReplies.hasCookie := verdict.postponed
  replies.io.statelessReplies.cookie := cookies.io.cookie
  io.statelessReplies << replies.io.replies

  cookies.io.now := io.now
  cookies.io.began := acts && (verdict.accepted || number.introduces)
  cookies.io.over := io.handshakeOver.valid
  cookies.io.sent := acts && verdict.postponed

  // There are no more slots than places here.
  private val discards = StreamFifo(UInt(config.slotBits bits), config.payloadSlots)
  private val lost = verdict.lost && !number.introduces
  discards.io.push.valid := acts && lost && segment.payload.payload.held
  discards.io.push.payload := segment.payload.payload.slot
  io.discards << discards.io.pop

  io.refused << StreamArbiterFactory().roundRobin.on(Seq(opener.io.refused, listeners.io.refused)).halfPipe()

  // ---- outputs of the verdict

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.drops.synNoFlow := count(acts && number.returned && verdict.noFlow)
  io.drops.synNoBucket := count(acts && number.returned && verdict.noBucket)
  io.drops.cookiesSent := count(acts && verdict.postponed)
  io.drops.cookiesAccepted := count(acts && number.introduces)
  io.drops.cookiesRefused := count(acts && verdict.returns && !number.returned)
  io.drops.noConnection := count(acts && verdict.lost && !verdict.postponed && !number.returned)
  io.drops.resets := replies.io.dropped
  io.drops.icmpErrors := count(acts && verdict.aboutNobody)

  io.freeFlows := free.io.count
  private val lineEmpty = waiting.io.occupancy === 0 && !segment.valid && !lookup.io.requests.valid && lookup.io.empty
  private val outputsEmpty = discards.io.occupancy === 0 && replies.io.idle && !io.events.valid && !io.refused.valid
  io.idle := !sweeping && lineEmpty && outputsEmpty && opener.io.idle && listeners.io.idle && releaser.io.idle
}

object FlowDirectory {
  /** Readers of addresses: the transmitter, the notifier, the host's notifications. */
  def addressReaders(config: DownbeatConfig): Int = if (config.hostPorts > 0) 3 else 2
}
