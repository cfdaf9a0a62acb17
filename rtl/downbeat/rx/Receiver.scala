// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.{ControlBeat, LocalAddresses, ReceiveDrops, ReceivedSegment, SlotReadPort}
import downbeat.time.Stamp
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** The way in: frames from the MAC become segments; ARP and ICMP leave as `control`, what is not ours by the bypass.
  *
  * Every frame is gathered, summed, and written to the queues of control and bypass and to a payload slot while it comes. At its end
  * the filter says whose it is, and the others forget it.
  */
case class Receiver(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    /** From the MAC. Waits only for `segments`. */
    val wire = slave Stream (ReceivedBeat())
    /** Frames that are not ours: whole, byte for byte. */
    val bypass = master Stream (ReceivedBeat())
    /** ARP and ICMP: whole frames, not yet judged. */
    val control = master Stream (ControlBeat())
    val segments = master Stream (ReceivedSegment(config))
    val slotRead = slave(SlotReadPort(config))
    /** The slot of a segment that held one is free again. */
    val slotFree = slave Flow (UInt(config.slotBits bits))
    val drops = out(ReceiveDrops.counters(config.counterBits))
    val idle = out Bool ()
  }
  noIoPrefix()

  val aligner = FrameAligner(config)
  val gatherer = HeaderGatherer(config)
  val filter = FrameFilter(config)
  val sums = PacketSums(config)
  val walker = OptionWalker(config)
  val reader = OptionReader(config)
  val bypassQueue = FrameQueue(config, Stamp(), frames = 32)
  val controlQueue = FrameQueue(config, Bool(), frames = 32)
  val store = ReceivedPayloadStore(config)
  val parser = SegmentParser(config)

  private val beats = io.wire.s2mPipe().m2sPipe()
  aligner.io.beats << beats
  private val aligned = aligner.io.windows
  // Only the end of a frame of ours waits, for the parser: the next frame's headers must not overtake it.
  aligned.ready := !(aligned.end && filter.io.ours && parser.io.busy)
  private val windows = aligned.toFlowFire
  private val header = gatherer.io.header

  for (start <- Seq(gatherer.io.start, filter.io.start)) start << aligner.io.start
  for (taker <- Seq(gatherer.io.windows, filter.io.windows, sums.io.windows, walker.io.windows)) taker << windows
  store.io.stored << aligner.io.stored
  filter.io.local := io.local
  filter.io.tagged := header.tagged
  sums.io.header := header
  walker.io.header := header
  reader.io.windows << walker.io.walked
  reader.io.acknowledgment := header.acknowledgment

  private val ended = windows.valid && windows.end
  private val oversize = header.tagged ? aligner.io.oversizeTagged | aligner.io.oversize
  private val whole = ended && !aligner.io.error && !oversize
  private val accepted = whole && filter.io.ours

  // The queues of others' frames hear of all a clock later: what a frame's last window says is late in its clock.
  private val endedBefore = RegNext(ended) init False
  private val stored = aligner.io.stored.map(_.frame).m2sPipe
  for (queue <- Seq(bypassQueue, controlQueue)) {
    queue.io.stored << stored
    queue.io.end := endedBefore
  }
  bypassQueue.io.keep := RegNext(whole && filter.io.bypass)
  bypassQueue.io.note := RegNext(header.stamp)
  io.bypass << bypassQueue.io.frames.map { noted =>
    val beat = ReceivedBeat()
    beat.frame := noted.frame
    beat.stamp := noted.note
    beat.error := False // damaged frames are not kept
    beat
  }
  controlQueue.io.keep := RegNext(whole && filter.io.control)
  controlQueue.io.note := RegNext(filter.io.isArp)
  io.control << controlQueue.io.frames.map { noted =>
    val beat = ControlBeat()
    beat.frame := noted.frame
    beat.isArp := noted.note
    beat
  }

  store.io.start := aligner.io.start.valid
  store.io.take := accepted && header.carries && store.io.filling.held
  store.io.rejected << parser.io.rejected
  store.io.free << io.slotFree
  store.io.read <> io.slotRead

  parser.io.local := io.local
  parser.io.frame.valid := accepted
  parser.io.frame.header := header
  parser.io.frame.bytes := aligner.io.bytes
  parser.io.frame.slot.held := header.carries && store.io.filling.held
  parser.io.frame.slot.slot := store.io.filling.slot
  parser.io.faults := walker.io.faults
  parser.io.options := reader.io.options
  sums.io.last := accepted
  sums.io.tcpLength := parser.io.tcpLength
  parser.io.settling := sums.io.settling
  parser.io.ipRight := sums.io.ipRight
  parser.io.tcpRight := sums.io.tcpRight
  io.segments << parser.io.segments

  private val dropped = CombInit(parser.io.drops).allowOverride()
  dropped.badFrame := ended && aligner.io.error
  dropped.oversize := ended && !aligner.io.error && oversize
  dropped.bypassOverflow := bypassQueue.io.overflow
  dropped.controlOverflow := controlQueue.io.overflow
  io.drops := ReceiveDrops.count(dropped, config.counterBits)

  private val quiet = !beats.valid && !aligned.end && !endedBefore && !parser.io.busy && bypassQueue.io.idle && controlQueue.io.idle
  // One clock more, in which the last counter moves.
  io.idle := quiet && (RegNext(quiet) init False)
}
