// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.{Tally, WideQueue}
import downbeat.messages.{
  AddressReadPort, ConnectionEnd, DirectoryDrops, DirectoryEvent, IcmpErrorKind, ListenRequest, LocalNetwork,
  NextHopMove, NextInstant, OpenRequest, ReceivedSegment, Refusal, StatelessReply
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
  * queue waits for that number.
  *
  * While half of the flows are in handshakes, or none is free, a SYN is answered with a cookie ([[SynCookies]]). The
  * ACK that returns the cookie becomes two events: the SYN, rebuilt, with `cookie` set, and the ACK.
  *
  * A flow that is released in TIME-WAIT leaves its 4-tuple to the [[TimeWaitTable]], which answers from then on. A SYN
  * that ends TIME-WAIT makes a connection at once; its initial sequence number is above the one that the last connection
  * ended with (RFC 9293 3.6.1).
  */
case class FlowDirectory(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val now = in(Stamp())
    /** Clock of the TSval of all connections, in units of 2^20 ns. */
    val timestampClock = in UInt (32 bits)
    /** Keys all hashes; constant from reset on. */
    val secret = in Bits (128 bits)
    val localIp = in UInt (32 bits)
    val network = in(LocalNetwork())
    /** MAC addresses of next hops. */
    val moves = slave(Stream(NextHopMove(config.vlanBits)))
    val segments = slave(Stream(ReceivedSegment(config)))
    val opens = slave(Stream(OpenRequest(config)))
    val listens = slave(Stream(ListenRequest(config)))
    /** A connection ends on its flow; comes before `released`. */
    val ended = slave(Flow(ConnectionEnd(config)))
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
    /** Challenge ACKs of TIME-WAIT that the limit held back. */
    val suppressedChallenges = out UInt (config.counterBits bits)
    val freeFlows = out UInt (log2Up(config.flows + 1) bits)
    val next = out(NextInstant())
    val idle = out Bool ()
  }
  noIoPrefix()

  private val now = RegNext(io.now.instant)
  private val lookup = FlowLookup(config)
  private val connections = ConnectionTable(config, readers = FlowDirectory.addressReaders(config))
  private val listeners = ListenerTable(config)
  private val free = FreeList(config)
  private val opener = OpenSequencer(config)
  private val releaser = ReleaseSequencer(config)
  private val timeWaits = TimeWaitTable(config)
  private val mover = NextHopMover(config)
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
  lookup.io.now := now
  lookup.io.oldest := timeWaits.io.oldest
  timeWaits.io.wanted := releaser.io.lookups.valid && timeWaits.io.end.waits
  lookup.io.requests << StreamArbiterFactory().lowerFirst.noLock.onArgs(
    releaser.io.lookups.haltWhen(timeWaits.io.end.waits && !timeWaits.io.space).map(request(LookupKind.release)),
    timeWaits.io.lookups.map(request(LookupKind.expiry)),
    opener.io.lookups.haltWhen(sweeping).map(request(LookupKind.open)),
    lookups.io.pop.map(request(LookupKind.segment))).halfPipe()

  opener.io.opens << io.opens
  listeners.io.listens << io.listens
  releaser.io.released << io.released
  // The first of them that reads a key: the lookup, released flows, TIME-WAIT, moving neighbours.
  private val keyReads = Seq(lookup.io.keyRead, releaser.io.keyRead, timeWaits.io.keyRead, mover.io.keyRead)
  connections.io.keyRead.enable := keyReads.map(_.enable).orR
  connections.io.keyRead.place := keyReads.init.foldRight(keyReads.last.place)((read, others) =>
    read.enable ? read.place | others)
  keyReads.foreach(_.key := connections.io.keyRead.key)
  releaser.io.keyBusy := lookup.io.keyRead.enable
  timeWaits.io.keyBusy := lookup.io.keyRead.enable || releaser.io.keyRead.enable ||
    RegNext(connections.io.timeWaitWrite.valid).init(False) || connections.io.timeWaitWrite.valid
  mover.io.keyBusy := keyReads.init.map(_.enable).orR
  mover.io.localIp := io.localIp
  mover.io.network := io.network
  mover.io.moves << io.moves
  mover.io.opens.valid := connections.io.write.valid
  mover.io.opens.payload := connections.io.write.flow
  connections.io.macWrite << mover.io.writes
  timeWaits.io.now := now
  timeWaits.io.ended << io.ended
  timeWaits.io.release.valid := releaser.io.keyRead.enable
  timeWaits.io.release.payload := releaser.io.keyRead.place.flow
  for ((outside, inside) <- io.addressRead.zip(connections.io.addressRead)) outside <> inside

  // ---- out of the line: what becomes of it is decided in one clock and done in the next

  private val result = lookup.io.results
  private val segment = waiting.io.pop.halfPipe()
  private val opening = opener.io.current
  listeners.io.port := result.request.tuple.localPort

  private val findings = DirectoryFindings()
  findings.kind := result.request.kind
  findings.found := result.found
  findings.inTimeWait := result.place.inTimeWait
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
  private val initialSequence = io.now.ns(43 downto 12) + numbers.io.number(31 downto 0)
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

  /** A segment of a connection in TIME-WAIT; its verdict stands long before the number does. */
  private val timeWait = new Area {
    timeWaits.io.place.valid := result.valid && !decided && result.found && result.place.inTimeWait
    timeWaits.io.place.payload := result.place.timeWait
    private val judged = new TimeWaitVerdict(segment.payload, timeWaits.io.numbers, result.timer, now)
    private def of(condition: Bool): Bool = RegNext(decided && verdict.waits && condition) init False
    val reopens = of(judged.succeeds && verdict.mayReopen)
    val lacksFlow = of(judged.succeeds && verdict.lacksFlow)
    private val stays = !(judged.succeeds && (verdict.mayReopen || verdict.lacksFlow))
    val acknowledged = of(judged.acknowledged && stays)
    val suppressed = of(judged.suppressed && stays)
    private val restarts = of(judged.restarts)
    private val spends = of(judged.spends)

    private val byClock = RegNext(initialSequence)
    private val above = RegNext(timeWaits.io.numbers.next.value + TimeWaitTable.sequenceStep)
    /** The initial sequence number of the next connection. */
    val next = RegNext((byClock - timeWaits.io.numbers.next.value).msb ? above | byClock)
    val timestamp = RegNext(numbers.io.number(63 downto 32) + io.timestampClock)

    /** A released flow's connection moves here. */
    val enters = acts && verdict.over && timeWaits.io.end.waits
    timeWaits.io.enters := enters
    private val write = connections.io.timeWaitWrite
    write.valid := enters || acts && acknowledged
    write.index := verdict.isRelease ? timeWaits.io.newest | result.place.timeWait
    write.tuple := result.request.tuple
    write.timer := result.timer
    when(spends)(write.timer.challenged := TimeWaitTimer.interval(now))
    when(restarts)(write.timer.deadline := TimeWaitTimer.deadline(config, now))
    when(verdict.isRelease)(write.timer := TimeWaitTimer.begin(config, now))
    timeWaits.io.done := acts && verdict.isExpiry
    timeWaits.io.found := verdict.found
    timeWaits.io.timer := result.timer
  }
  private val numbered = decided && (number.ready || !verdict.wantsNumber)
  /** The SYN to which the cookie was the answer has gone ahead. */
  private val introduced = RegInit(False)
  private val introducing = number.introduces && !introduced
  acts := numbered && events.ready && !introducing
  when(numbered && events.ready)(introduced := introducing)
  decided := result.valid && !acts
  private val made = verdict.made || number.introduces || timeWait.reopens
  result.ready := acts
  segment.ready := acts && verdict.isSegment
  releaser.io.done := acts && verdict.isRelease

  free.io.next.ready := acts && made
  free.io.released.valid := acts && verdict.over
  free.io.released.flow := result.place.flow
  free.io.released.generation := result.generation
  assert(!(acts && verdict.isRelease && !verdict.found), "a flow was released that has no connection")

  lookup.io.change.valid := acts && (made || verdict.over || verdict.isExpiry && timeWaits.io.leaves)
  lookup.io.change.enter := made || verdict.isRelease && timeWaits.io.end.waits
  lookup.io.change.place := ConnectionPlace.ofFlow(config, free.io.next.flow)
  when(verdict.isRelease) {
    lookup.io.change.place.inTimeWait := True
    lookup.io.change.place.index := timeWaits.io.newest.resized
  }

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
  events.fresh := verdict.accepted || introducing || timeWait.reopens
  events.cookie := introducing
  events.reference.flow := made ? free.io.next.flow | result.place.flow
  events.reference.generation := made ? free.io.next.generation | result.generation
  events.parameters := verdict.isOpen ? opening.parameters | listeners.io.parameters
  events.initialSequence.value := introducing ? cookies.io.claim | (timeWait.reopens ? timeWait.next | initialSequence)
  events.timestampOffset := numbers.io.number(63 downto 32)
  when(introducing)(events.payload.becomesSyn(cookies.io.terms.sequence, cookies.io.mss))
  io.events << events.halfPipe()

  replies.io.statelessReplies.valid :=
    acts && (verdict.stateless && !number.returned || verdict.postponed || timeWait.acknowledged)
  replies.io.statelessReplies.segment := segment.payload
  replies.io.statelessReplies.hasCookie := verdict.postponed
  replies.io.statelessReplies.cookie := cookies.io.cookie
  replies.io.statelessReplies.waits := verdict.waits
  replies.io.statelessReplies.numbers := timeWaits.io.numbers
  replies.io.statelessReplies.timestamp := timeWait.timestamp
  io.statelessReplies << replies.io.replies

  cookies.io.now := io.now
  cookies.io.began := acts && (verdict.accepted || number.introduces || timeWait.reopens)
  cookies.io.over := io.handshakeOver.valid
  cookies.io.sent := acts && verdict.postponed

  // There are no more slots than places here.
  private val discards = StreamFifo(UInt(config.slotBits bits), config.payloadSlots)
  private val lost = verdict.lost && !number.introduces || verdict.waits && !timeWait.reopens
  discards.io.push.valid := acts && lost && segment.payload.payload.held
  discards.io.push.payload := segment.payload.payload.slot
  io.discards << discards.io.pop

  io.refused << StreamArbiterFactory().roundRobin.on(Seq(opener.io.refused, listeners.io.refused)).halfPipe()

  // ---- outputs of the verdict

  private def count(event: Bool): UInt = Tally(event, config.counterBits)
  io.drops.synNoFlow := count(acts && (number.returned && verdict.noFlow || timeWait.lacksFlow))
  io.drops.synNoBucket := count(acts && number.returned && verdict.noBucket)
  io.drops.cookiesSent := count(acts && verdict.postponed)
  io.drops.cookiesAccepted := count(acts && number.introduces)
  io.drops.cookiesRefused := count(acts && verdict.returns && !number.returned)
  io.drops.noConnection := count(acts && verdict.lost && !verdict.postponed && !number.returned)
  io.drops.resets := replies.io.dropped
  io.drops.icmpErrors := count(acts && verdict.aboutNobody)
  io.drops.timeWaitSegments := count(acts && verdict.waits && !timeWait.reopens && !timeWait.lacksFlow)
  io.drops.timeWaitsGivenUp := count(acts && verdict.isExpiry && timeWaits.io.givenUp)
  io.suppressedChallenges := count(acts && timeWait.suppressed)

  io.freeFlows := free.io.count
  private val lineEmpty = waiting.io.occupancy === 0 && !segment.valid && !lookup.io.requests.valid && lookup.io.empty
  private val outputsEmpty = discards.io.occupancy === 0 && replies.io.idle && !io.events.valid && !io.refused.valid
  io.idle := !sweeping && lineEmpty && outputsEmpty && opener.io.idle && listeners.io.idle && releaser.io.idle && timeWaits.io.idle && mover.io.idle
  io.next := timeWaits.io.next
}

object FlowDirectory {
  /** Readers of addresses: the transmitter, the notifier, the host's notifications. */
  def addressReaders(config: DownbeatConfig): Int = if (config.hostPorts > 0) 3 else 2
}
