// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** Result of a lookup of a 4-tuple. */
case class LookupResult(config: DownbeatConfig) extends Bundle {
  val request = LookupRequest(config.vlanBits)
  val found = Bool()
  val place = ConnectionPlace(config) // read when `found`
  /** A flow has the first, a place in TIME-WAIT the second. */
  val generation = UInt(config.generationBits bits)
  val timer = TimeWaitTimer(config)
  /** One of its two buckets has a free slot. */
  val space = Bool()
}

/** Inserts, moves or removes the 4-tuple that was just answered. */
case class LookupChange(config: DownbeatConfig) extends Bundle {
  /** It is held by `place`. If it was not `found`, it is entered, which needs `space`. Otherwise it is removed. */
  val enter = Bool()
  val place = ConnectionPlace(config)
}

/** Looks up the flow of a 4-tuple, or its place in TIME-WAIT, in a hash table: two choices of a bucket, four slots for
  * each bucket, about four slots for each flow and place. A new entry goes to the emptier bucket. At a load of one
  * quarter both are practically never full; then the entry is refused.
  *
  * A place in TIME-WAIT whose time is over is not found, but by the lookup that removes it.
  *
  * It is a pipeline: the keyed hash (twelve clocks, two requests at once), the read of both buckets (two clocks), and
  * the comparison of each slot whose fingerprint matches with the connection table (five clocks for none or one match,
  * and one for the response). Each part works on its own request, so responses come every six clocks, in order.
  */
case class FlowLookup(config: DownbeatConfig) extends Component {
  private val shape = BucketShape(config)

  val io = new Bundle {
    /** Key of the hash; constant while there are connections. */
    val key = in Bits (64 bits)
    val requests = slave(Stream(LookupRequest(config.vlanBits)))
    /** Ready in the clock after it was offered at the earliest: that clock is the taker's to decide. */
    val results = master(Stream(LookupResult(config)))
    /** Given in the clock in which the response is taken. */
    val change = slave(Flow(LookupChange(config)))
    val keyRead = master(KeyReadPort(config))
    val now = in(Instant())
    /** The place in TIME-WAIT that an `expiry` is about. */
    val oldest = in UInt (config.timeWaitBits bits)
    val sweeping = out Bool ()
    val empty = out Bool ()
  }
  noIoPrefix()

  private val hasher = TupleHasher(config.vlanBits)
  hasher.io.key := io.key
  hasher.io.requests << io.requests.haltWhen(io.sweeping)
  private val hashed = hasher.io.hashed

  private val buckets = FlowBuckets(config)
  buckets.io.valid := hashed.valid
  buckets.io.address.of(hashed.hash)
  io.sweeping := buckets.io.sweeping

  private object Step extends SpinalEnum {
    val idle, choose, read, arrive, compare, respond = newElement()
  }
  private val step = RegInit(Step.idle)

  // The request whose slots are compared with the connection table.
  private val load = Bool()
  private val request = RegNextWhen(hashed.request, load)
  private val address = RegNextWhen(buckets.io.address, load)
  private val slots = RegNextWhen(buckets.io.slots, load)
  private val candidates = Reg(Bits(shape.slots bits)) // fingerprint fits, not yet tried
  when(load) {
    def fits(slot: BucketSlot) = slot.used && slot.fingerprint === buckets.io.address.fingerprint
    candidates := buckets.io.slots.map(fits).asBits()
  }
  // Looked at; unless the response before changed the table in that clock, and the buckets must be read again.
  private val loaded = RegNext(load) init False
  private val stale = RegNext(io.change.valid) init False
  private val taken = loaded && !stale
  buckets.io.taken := taken
  hashed.ready := taken

  private val chosen = Reg(Bits(shape.slots bits)) // one hot, or none
  private val some = RegNextWhen(candidates.orR, step === Step.choose)
  private val place = Reg(ConnectionPlace(config))
  private val first = OHMasking.first(candidates)
  when(step === Step.choose) {
    chosen := first
    candidates := candidates & ~first
    place := MuxOH.or(first, slots.map(_.place))
  }
  io.keyRead.enable := step === Step.read && some
  io.keyRead.place := place

  // Sixteen bits each: what four LUT levels compare.
  private val equal = Reg(Bits(5 bits))
  private val isExpiry = RegNext(request.kind === LookupKind.expiry)
  private val isOldest = RegNext(place.inTimeWait && place.timeWait === io.oldest)
  private val key = io.keyRead.key
  private val sameVlan = if (config.vlans > 0) key.tuple.vlan === request.tuple.vlan else True
  when(step === Step.compare) {
    equal(0) := key.tuple.remoteIp(15 downto 0) === request.tuple.remoteIp(15 downto 0)
    equal(1) := key.tuple.remoteIp(31 downto 16) === request.tuple.remoteIp(31 downto 16)
    equal(2) := key.tuple.remotePort === request.tuple.remotePort
    equal(3) := key.tuple.localPort === request.tuple.localPort && some && sameVlan
    equal(4) := isExpiry ? isOldest | !(place.inTimeWait && key.timer.isOver(io.now))
  }
  private val more = RegNextWhen(candidates.orR, step === Step.compare)
  private val found = equal.andR
  private val last = found || !more
  private val generation = RegNextWhen(key.generation, step === Step.compare)
  private val timer = RegNextWhen(key.timer, step === Step.compare)

  private val free = new Area {
    private val used = slots.map(_.used).grouped(shape.ways).map(_.asBits()).toSeq
    private val taken = used.map(bucket => RegNextWhen(CountOne(bucket), step === Step.choose))
    private val slot = used.map(bucket => RegNextWhen(OHMasking.first(~bucket), step === Step.choose))
    private val second = taken(1) < taken(0)
    private val none = B(0, shape.ways bits)
    val select = RegNextWhen(second ? (slot(1) ## none) | (none ## slot(0)), step === Step.read)
    val space = select.orR
  }

  io.results.valid := step === Step.respond && last
  io.results.request := request
  io.results.found := found
  io.results.place := place
  io.results.generation := generation
  io.results.timer := timer
  io.results.space := free.space

  private val resultTaken = Bool()
  resultTaken := (RegNext(io.results.valid && !resultTaken) init False) && io.results.ready
  load := buckets.io.ready && (step === Step.idle || resultTaken)
  switch(step) {
    is(Step.choose)(step := (loaded && stale) ? Step.idle | Step.read)
    is(Step.read)(step := Step.arrive)
    is(Step.arrive)(step := Step.compare)
    is(Step.compare)(step := Step.respond)
    is(Step.respond) {
      when(!last)(step := Step.choose)
      when(resultTaken)(step := Step.idle)
    }
  }
  when(load)(step := Step.choose)

  buckets.io.write.valid := io.change.valid
  buckets.io.write.address := address
  buckets.io.write.select := found ? chosen | free.select
  buckets.io.write.slot.used := io.change.enter
  buckets.io.write.slot.fingerprint := address.fingerprint
  buckets.io.write.slot.place := io.change.place

  io.empty := hasher.io.empty && step === Step.idle
}
