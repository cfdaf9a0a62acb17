// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.lib.{Tally, WideQueue}
import downbeat.messages.{
  AddressReadPort, DepartedEvent, FlowReference, LocalAddresses, SegmentDescriptor, StatelessReply, Transfer, Vlan
}
import downbeat.wire.{DepartureStamp, FrameBeat, TransmitBeat}
import spinal.core._
import spinal.lib._

/** The transmit path: it turns descriptors into frames (headers, payload, checksum) and merges them with the bypass
  * frames.
  */
case class Transmitter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val descriptors = slave(Stream(SegmentDescriptor(config)))
    val statelessReplies = slave(Stream(StatelessReply(config.vlanBits)))
    val addressRead = master(AddressReadPort(config))
    /** Does not change while frames are in here. */
    val local = in(LocalAddresses())
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan())) // likewise
    val fetch = master(Stream(Transfer(config)))
    val payload = slave(Stream(FrameBeat(bytes = config.beatBytes)))
    /** The memory refused bytes of the payload; read with its last beat. */
    val payloadFailed = in(Bool())
    /** A segment was not sent, because the memory refused its payload. */
    val fetchFailures = master(Stream(FlowReference(config)))
    val bypass = slave(Stream(FrameBeat(config.vlanBits, config.beatBytes)))
    val wire = master(Stream(TransmitBeat(bytes = config.beatBytes)))
    val departures = slave(Flow(DepartureStamp()))
    val departed = master(Stream(DepartedEvent(config)))
    /** Every earlier frame of the flow has been built: nothing here reads its addresses or its payload any more. */
    val released = master(Flow(UInt(config.flowBits bits)))
    val idle = out Bool ()
    val framesSent, bytesSent = out UInt (32 bits)
    val staleStamps, droppedStamps, fetchErrors = out UInt (config.counterBits bits)
  }
  noIoPrefix()

  val builder = SegmentBuilder(config)
  builder.io.descriptors << io.descriptors
  builder.io.statelessReplies << io.statelessReplies
  builder.io.addressRead <> io.addressRead
  builder.io.local := io.local

  val store = TransmitPayloadStore(config)
  store.io.requests << builder.io.fetch
  store.io.fetch >> io.fetch
  store.io.fetched << io.payload
  store.io.fetchFailed := io.payloadFailed

  // A line is two queues, of frames and of their headers' words. The latter has space for all frames that can be on
  // their way.
  private def wordsOf(immediate: Bool): Stream[HeaderWord] = {
    val queue = WideQueue(HeaderWord(), Transmitter.lineWords)
    queue.io.push.valid := builder.io.words.valid && builder.io.wordsAreImmediate === immediate
    queue.io.push.payload := builder.io.words.payload
    assert(!queue.io.push.isStall, "words of headers are lost")
    HeaderGathering(queue.io.pop.m2sPipe().s2mPipe(), config.beatBytes)
  }

  val dataLine = WideQueue(DataEntry(config, FramePlan(config)), Transmitter.lineFrames)
  dataLine.io.push << builder.io.data.map(entry => entry.withFrame(FramePlan(entry.frame)))
  val checksum = ChecksumInsert(config)
  checksum.io.entries << dataLine.io.pop
  checksum.io.sums << store.io.sums
  io.released << checksum.io.released.m2sPipe
  // The transmitter must not wait for the engine, which waits for it. One that is lost here comes back: the timer
  // fetches again.
  val failures = checksum.io.failed.toStream.queueWithOccupancy(16)
  io.fetchFailures << failures._1
  io.fetchErrors := Tally(checksum.io.failed.valid, config.counterBits)
  val dataFrames = checksum.io.frames.halfPipe()
  val dataSerialiser = FrameSerialiser(config)
  dataSerialiser.io.words << wordsOf(False)
  val dataBeats = dataSerialiser.io.beats.m2sPipe()
  val splicer = PayloadSplicer(config)
  splicer.io.headers << dataBeats.s2mPipe()
  splicer.io.payload << store.io.payload.s2mPipe()

  val immediateLine = StreamFifo(ImmediatePlan(config), Transmitter.lineFrames, forFMax = true)
  immediateLine.io.push << builder.io.immediate.map(ImmediatePlan(_))
  val immediateFrames = immediateLine.io.pop.m2sPipe().s2mPipe().map(_.frame)
  val immediateSerialiser = FrameSerialiser(config)
  immediateSerialiser.io.frames << immediateFrames
  immediateSerialiser.io.words << wordsOf(True)

  val merge = TransmitMerge(config)
  if (config.vlans > 0) merge.io.vlans := io.vlans
  // The merge's decision must not reach back through the lines in the same clock: s2mPipe.
  val immediateBeats = immediateSerialiser.io.beats.map(_.beat).m2sPipe()
  merge.io.immediate << immediateBeats.s2mPipe()
  val splicedBeats = splicer.io.beats.m2sPipe()
  merge.io.data << splicedBeats.s2mPipe()
  if (config.beatBytes == 8) {
    dataSerialiser.io.frames << dataFrames
    // A frame has more beats than wait between there and the merge: this one's first is with the merge.
    builder.io.dataLeaves := dataFrames.fire
  } else {
    // Those between there and the merge, and whether they were dropped there.
    val left = StreamFifo(Bool(), 8, latency = 1)
    dataSerialiser.io.frames << dataFrames.haltWhen(!left.io.push.ready)
    left.io.push.valid := dataFrames.fire
    left.io.push.payload := dataFrames.dropped
    val gone = Reg(UInt(4 bits)) init 0 // on the wire, and still in `left`
    left.io.pop.ready := left.io.pop.payload || gone =/= 0
    gone := gone + (merge.io.data.fire && merge.io.data.frame.last).asUInt -
      (left.io.pop.fire && !left.io.pop.payload).asUInt
    builder.io.dataLeaves := left.io.pop.fire
  }
  merge.io.bypass << io.bypass.pipelined(StreamPipe.FULL)
  merge.io.wire >> io.wire
  io.framesSent := merge.io.framesSent
  io.bytesSent := merge.io.bytesSent

  val tags = DepartureTags(config)
  tags.io.tags <> builder.io.tags
  tags.io.departures << io.departures
  tags.io.departed >> io.departed
  io.staleStamps := tags.io.staleStamps
  io.droppedStamps := tags.io.droppedStamps

  // A fetch under way has its entry in the data line; a frame that is being serialised is valid at one of the joints.
  val empty = Seq(
    builder.io.idle, dataLine.io.occupancy === 0, checksum.io.idle, !dataFrames.valid, !dataBeats.valid,
    !merge.io.data.valid,
    immediateLine.io.occupancy === 0, !immediateFrames.valid, !merge.io.immediate.valid, !merge.io.bypass.valid,
    merge.io.idle, tags.io.idle,
    !io.released.valid, failures._2 === 0)
  io.idle := empty.reduceBalancedTree(_ && _)
}

object Transmitter {
  private val lineFrames = 16
  /** Frames of a line, with the frame that is built, and those between the line and its serialiser's end. */
  private val serialised: Int = lineFrames + 4
  private val lineWords = 1 << log2Up(serialised * SegmentHeader.maxWords)
  /** The same up to the merge, where frames may be shorter than the way to it. */
  def maxFrames(config: DownbeatConfig): Int = if (config.beatBytes == 8) serialised else serialised + 8
}
