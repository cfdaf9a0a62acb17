// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.DownbeatConfig
import downbeat.flow.LocalAddresses
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** The way in: frames from the MAC become segments; what is not ours leaves by the bypass.
  *
  * Every frame is gathered, summed, and written both to the bypass queue and to a payload slot while it comes. At its end the
  * filter says whose it is, and one of the two forgets it.
  */
case class Receiver(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    /** From the MAC. Waits only for `segments`. */
    val wire = slave Stream (ReceivedBeat())
    /** Frames that are not ours: whole, byte for byte. */
    val bypass = master Stream (ReceivedBeat())
    val segments = master Stream (ReceivedSegment(config))
    val slotRead = slave(SlotReadPort(config))
    /** The slot of a segment that held one is free again. */
    val slotFree = slave Flow (UInt(config.slotBits bits))
    val drops = out(ReceiveDrops.counters)
    val idle = out Bool ()
  }
  noIoPrefix()

  val aligner = FrameAligner(config)
  val gatherer = HeaderGatherer(config)
  val filter = FrameFilter(config)
  val sums = PacketSums(config)
  val walker = OptionWalker(config)
  val bypassQueue = BypassQueue(config)
  val store = PayloadStore(config)
  val parser = SegmentParser(config)

  private val beats = io.wire.m2sPipe()
  aligner.io.beats << beats
  private val aligned = aligner.io.windows
  // Only the end of a frame of ours waits, for the parser: the next frame's headers must not overtake it.
  aligned.ready := !(aligned.end && filter.io.ours && parser.io.busy)
  private val windows = aligned.toFlowFire
  private val header = gatherer.io.header

  for (start <- Seq(gatherer.io.start, filter.io.start, bypassQueue.io.start)) start << aligner.io.start
  for (taker <- Seq(gatherer.io.windows, filter.io.windows, sums.io.windows, walker.io.windows)) taker << windows
  for (taker <- Seq(bypassQueue.io.stored, store.io.stored)) taker << aligner.io.stored
  filter.io.local := io.local
  filter.io.tagged := header.tagged
  sums.io.header := header
  walker.io.header := header

  private val ended = windows.valid && windows.end
  private val oversize = header.tagged ? aligner.io.oversizeTagged | aligner.io.oversize
  private val whole = ended && !aligner.io.error && !oversize
  private val accepted = whole && filter.io.ours

  bypassQueue.io.end := ended
  bypassQueue.io.keep := whole && !filter.io.ours
  io.bypass << bypassQueue.io.bypass

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
  parser.io.options := walker.io.options
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
  io.drops := ReceiveDrops.count(dropped)

  private val quiet = !beats.valid && !aligned.end && !parser.io.busy && bypassQueue.io.idle
  // One clock more, in which the last counter moves.
  io.idle := quiet && (RegNext(quiet) init False)
}
