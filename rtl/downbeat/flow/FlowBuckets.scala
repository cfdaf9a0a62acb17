// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._

/** The shape of the flow hash table: two choices of a bucket with four slots each. */
case class BucketShape(config: DownbeatConfig) {
  val choices = 2
  val ways = 4
  val slots: Int = choices * ways
  /** Buckets of each choice; the table has about four slots for each flow and each place in TIME-WAIT. */
  val buckets: Int = Integer.highestOneBit((config.flows + config.timeWaits) / 2)
  val bucketBits: Int = log2Up(buckets)
  /** Two connections of one bucket look alike with a chance of 2^-12; the connection table tells them apart. */
  val fingerprintBits = 12
}

/** The holder of a connection's 4-tuple: a flow, or a place of the TIME-WAIT table. */
case class ConnectionPlace(config: DownbeatConfig) extends Bundle {
  val inTimeWait = Bool()
  val index = UInt(config.flowBits max config.timeWaitBits bits)

  def flow: UInt = index.resize(config.flowBits)
  def timeWait: UInt = index.resize(config.timeWaitBits)
}

object ConnectionPlace {
  def ofFlow(config: DownbeatConfig, flow: UInt): ConnectionPlace = {
    val place = ConnectionPlace(config)
    place.inTimeWait := False
    place.index := flow.resized
    place
  }
}

/** A slot: a fingerprint of the hash, and the holder of the 4-tuple that has it. */
case class BucketSlot(config: DownbeatConfig) extends Bundle {
  val used = Bool()
  val fingerprint = UInt(BucketShape(config).fingerprintBits bits)
  val place = ConnectionPlace(config)
}

/** The buckets that a hash leads to: a bucket for each choice. */
case class BucketAddress(config: DownbeatConfig) extends Bundle {
  val bucket = Vec.fill(BucketShape(config).choices)(UInt(BucketShape(config).bucketBits bits))
  val fingerprint = UInt(BucketShape(config).fingerprintBits bits)

  def of(hash: TupleHash): Unit = {
    bucket(0) := hash.first.resized
    bucket(1) := hash.second.resized
    // The buckets take the low bits: 15 at the most.
    fingerprint := hash.first(31 downto 32 - fingerprint.getWidth)
  }
}

/** One slot of a pair of buckets is written. */
case class SlotWrite(config: DownbeatConfig) extends Bundle {
  val address = BucketAddress(config)
  val select = Bits(BucketShape(config).slots bits) // one hot: four slots of the first choice, four of the second
  val slot = BucketSlot(config)
}

/** The memory of the hash table. It reads both buckets of `address` and holds their eight slots in `slots`; `ready`
  * comes two clocks after `valid`. A write in between makes it read again, so `slots` is never stale.
  *
  * After reset it empties one pair of buckets a clock.
  */
case class FlowBuckets(config: DownbeatConfig) extends Component {
  private val shape = BucketShape(config)

  val io = new Bundle {
    /** Stays, with `address`, until the slots were looked at. */
    val valid = in Bool ()
    val address = in(BucketAddress(config))
    val ready = out Bool ()
    /** The slots were looked at: another address follows. */
    val taken = in Bool ()
    val slots = out(Vec.fill(shape.slots)(BucketSlot(config)))
    val write = slave(Flow(SlotWrite(config)))
    val sweeping = out Bool ()
  }
  noIoPrefix()

  private val sweep = Reg(UInt(shape.bucketBits + 1 bits)) init 0
  io.sweeping := !sweep.msb
  when(io.sweeping)(sweep := sweep + 1)

  // A memory for each slot of a bucket, as block RAM has no use for a mask of 20 bits.
  private val memories = Seq.fill(shape.slots)(
    StateMemory(config.ecc, BucketSlot(config), shape.buckets).addAttribute("no_rw_check"))

  // One clock later, off the path of the decision to write.
  private val written = io.write.m2sPipe()
  private val empty = BucketSlot(config)
  empty.used := False
  empty.fingerprint := 0
  empty.place.assignFromBits(B(0, widthOf(empty.place) bits))
  for ((memory, index) <- memories.zipWithIndex) {
    val choice = index / shape.ways
    memory.write(
      address = io.sweeping ? sweep.resize(shape.bucketBits) | written.address.bucket(choice),
      data = io.sweeping ? empty | written.slot,
      enable = io.sweeping || written.valid && written.select(index))
  }

  private val reading, arrived = RegInit(False)
  private val start = io.valid && !reading && !arrived && !io.write.valid && !written.valid && !io.sweeping
  reading := start
  when(reading)(arrived := True)
  // The memory changes a clock after the write was asked for; whatever was read before that is read again.
  when(io.taken || io.write.valid) {
    reading := False
    arrived := False
  }
  for ((memory, index) <- memories.zipWithIndex) {
    val read = memory.readSync(io.address.bucket(index / shape.ways), start)
    io.slots(index) := RegNextWhen(read, reading)
  }
  io.ready := arrived
}
