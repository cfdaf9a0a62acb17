// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{ControlBeat, LocalAddresses, ReceiveDrops, ReceivedSegment, SlotReadPort, Vlan}
import downbeat.time.Stamp
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** The receive path. Frames from the MAC become segments; ARP and ICMP leave as `control`, all other frames by the
  * bypass.
  *
  * While a frame comes its headers are gathered, its checksums added up, and its beats written to the control queue,
  * the bypass queue and a payload slot. At its end the filter chooses one of them; the others drop it.
  */
case class Receiver(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan()))
    /** From the MAC. Waits only for `segments`. */
    val wire = slave Stream (ReceivedBeat(config.beatBytes))
    /** Frames that are not ours: whole, byte for byte. */
    val bypass = master Stream (ReceivedBeat(config.beatBytes))
    /** ARP and ICMP: whole frames, not yet judged. */
    val control = master Stream (ControlBeat(config.vlanBits, config.beatBytes))
    val segments = master Stream (ReceivedSegment(config))
    val slotRead = slave(SlotReadPort(config))
    /** The slot of a segment that held one is free again. */
    val slotFree = slave Flow (UInt(config.slotBits bits))
    val drops = out(ReceiveDrops.counters(config.counterBits))
    /** Frames to our MAC that took the bypass, because their VLAN is not ours or they have two tags; as `drops`. */
    val otherVlan = (config.vlans > 0) generate out(UInt(config.counterBits bits))
    val idle = out Bool ()
  }
  noIoPrefix()

  val heads = FrameHeads(config)
  val gatherer = HeaderGatherer(config)
  val filter = FrameFilter(config)
  val sums = PacketSums(config)
  val walker = OptionWalker(config)
  val reader = OptionReader(config)
  val bypassQueue = FrameQueue(config, Stamp(), frames = 32, config.beatBytes)
  val controlQueue = FrameQueue(config, ControlNote(config), frames = 32, config.beatBytes)
  val store = ReceivedPayloadStore(config)
  val parser = SegmentParser(config)

  private val beats = io.wire.s2mPipe().m2sPipe()
  heads.io.beats << beats
  private val aligned = heads.io.windows
  private val wide = config.beatBytes != 8
  // Frames wait for the parser. At eight bytes the end of one of ours does: the next frame's headers must not overtake
  // it. With wide beats any frame waits behind two of ours: its options must not overtake those that are not yet read.
  private val mustWait = if (wide) !aligned.end && aligned.mayHaveOptions else aligned.end && filter.io.ours
  aligned.ready := !(mustWait && parser.io.full)
  private val windows = aligned.toFlowFire
  private val passing = heads.io.passing
  private val stored = passing.m2sPipe(holdPayload = true)
  private val header = gatherer.io.header

  for (start <- Seq(gatherer.io.start, filter.io.start)) start << heads.io.start
  for (taker <- Seq(gatherer.io.windows, filter.io.windows, sums.io.windows, walker.io.windows)) taker << windows
  filter.io.local := io.local
  filter.io.tagged := header.tagged
  if (config.vlans > 0) filter.io.vlans := io.vlans
  heads.io.headerEnds := gatherer.io.ends
  sums.io.header := header
  sums.io.passing << passing
  sums.io.stored << stored
  sums.io.ownIp := io.local.ip
  walker.io.header := header
  reader.io.windows << walker.io.walked
  // The last SACK block is read when the next frame's acknowledgment may be here, if its IP header says it is too short.
  reader.io.acknowledgment := Delay(header.acknowledgment, 2)

  private val ended = windows.valid && windows.end
  private val oversize = header.tagged ? heads.io.end.oversizeTagged | heads.io.end.oversize
  private val whole = ended && !heads.io.end.error && !oversize
  private val accepted = whole && filter.io.ours

  // The queues of others' frames hear of all a clock later: what a frame's last window says is late in its clock. With
  // wide beats it is not, but the next frame's first beat passes before, so it is the beats that wait.
  private def late[T <: Data](value: T): T = if (wide) value else RegNext(value)
  private val queued = stored.m2sPipe
  private val endedBefore = if (wide) ended else RegNext(ended) init False
  for (queue <- Seq(bypassQueue, controlQueue)) {
    queue.io.stored << queued.map(_.frame)
    queue.io.end := endedBefore
  }
  bypassQueue.io.keep := late(whole && filter.io.bypass)
  bypassQueue.io.note := late(header.stamp)
  io.bypass << bypassQueue.io.frames.map { noted =>
    val beat = ReceivedBeat(config.beatBytes)
    beat.frame := noted.frame
    beat.stamp := noted.note
    beat.error := False // damaged frames are not kept
    beat
  }
  controlQueue.io.keep := late(whole && filter.io.control)
  private val controlNote = ControlNote(config)
  controlNote.isArp := filter.io.isArp
  controlNote.vlan := filter.io.vlan
  controlQueue.io.note := late(controlNote)
  io.control << controlQueue.io.frames.map { noted =>
    val beat = ControlBeat(config.vlanBits, config.beatBytes)
    beat.frame.takesBytes(noted.frame)
    beat.frame.vlan := noted.note.vlan
    beat.isArp := noted.note.isArp
    beat
  }

  store.io.start := heads.io.start.valid
  store.io.stored << (if (wide) queued else stored)
  store.io.take := accepted && header.carries && store.io.filling.held
  store.io.rejected << parser.io.rejected
  store.io.free << io.slotFree
  store.io.read <> io.slotRead

  parser.io.local := io.local
  parser.io.frame.valid := accepted
  parser.io.frame.header := header
  parser.io.frame.bytes := heads.io.end.bytes
  parser.io.frame.vlan := filter.io.vlan
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
  dropped.badFrame := ended && heads.io.end.error
  dropped.oversize := ended && !heads.io.end.error && oversize
  dropped.bypassOverflow := bypassQueue.io.overflow
  dropped.controlOverflow := controlQueue.io.overflow
  io.drops := ReceiveDrops.count(dropped, config.counterBits)
  if (config.vlans > 0) io.otherVlan := Tally(whole && filter.io.otherVlan, config.counterBits)

  private val quiet =
    heads.io.idle && !aligned.end && !endedBefore && parser.io.idle && bypassQueue.io.idle && controlQueue.io.idle
  // One clock more, in which the last counter moves.
  io.idle := quiet && (RegNext(quiet) init False)
}

/** Values that the control queue keeps beside a frame. */
case class ControlNote(config: DownbeatConfig) extends Bundle {
  val isArp = Bool()
  val vlan = UInt(config.vlanBits bits)
}
