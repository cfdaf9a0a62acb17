// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{DepartedEvent, FlowReference}
import downbeat.wire.{DepartureStamp, SequenceNumber}
import spinal.core._
import spinal.lib._

/** The segment that a tag belongs to. */
case class TaggedSegment(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val end = SequenceNumber() // one past the last number of the segment
  /** It has a launch time; its low bits, ns. */
  val timed = Bool()
  val launch = UInt(32 bits)
}

/** Hands out tags: `tag` is the next one, `take` uses it up. */
case class TagPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val tag = UInt(16 bits)
  val take = Flow(TaggedSegment(config))

  override def asMaster(): Unit = {
    in(tag)
    master(take)
  }
}

/** Turns the departure stamps of the MAC into events.
  *
  * The low six bits of a tag address a table of the segments that were tagged last. The high ten bits must match the
  * table's entry. The tag is stale if it was never given, or if a later segment has its entry: the stamp is dropped. A
  * stamp for which the queue has no space is dropped too, so a departure never waits.
  */
case class DepartureTags(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val tags = slave(TagPort(config))
    val departures = slave(Flow(DepartureStamp()))
    val departed = master(Stream(DepartedEvent(config)))
    val staleStamps = out UInt (config.counterBits bits)
    val droppedStamps = out UInt (config.counterBits bits)
    val idle = out Bool ()
  }
  noIoPrefix()

  private val entries = 64
  private val indexBits = log2Up(entries)
  private def index(tag: UInt): UInt = tag.resize(indexBits)
  private def high(tag: UInt): UInt = tag(15 downto indexBits)

  private case class Entry() extends Bundle {
    val high = UInt(16 - indexBits bits)
    val segment = TaggedSegment(config)
  }

  // From 64 to 65,535, so that none is zero and the table is filled in order.
  private val tag = Reg(UInt(16 bits)) init entries
  private val filled = RegInit(False) // every entry has been written
  io.tags.tag := tag
  when(io.tags.take.valid) {
    tag := tag.andR ? U(entries) | tag + 1
    filled setWhen index(tag).andR
  }

  private val table = StateMemory(config.ecc, Entry(), entries)
  private val written = Entry()
  written.high := high(tag)
  written.segment := io.tags.take.payload
  table.write(index(tag), written, io.tags.take.valid)

  private val requested = io.departures.m2sPipe
  private val read = requested.m2sPipe
  private val found = read.m2sPipe
  private val entry = RegNextWhen(table.readSync(index(requested.tag), requested.valid), read.valid)
  private val isWritten = RegNextWhen(filled || index(read.tag) < index(tag), read.valid)

  private val event = DepartedEvent(config)
  event.reference := entry.segment.reference
  event.end := entry.segment.end
  event.stamp := found.stamp
  private val after = found.stamp.ns.resize(32) - entry.segment.launch
  event.late := entry.segment.timed && !after.msb && U(8) < after // a byte time of 1 Gb/s
  private val judged = found.translateWith(event).m2sPipe
  private val known = RegNextWhen(isWritten && entry.high === high(found.tag), found.valid)

  private val queue = StreamFifo(DepartedEvent(config), 16, forFMax = true)
  private val overflow = Bool()
  queue.io.push << judged.takeWhen(known).toStream(overflow)
  io.departed << queue.io.pop

  io.staleStamps := Tally(judged.valid && !known, config.counterBits)
  io.droppedStamps := Tally(overflow, config.counterBits)
  io.idle := !requested.valid && !read.valid && !found.valid && !judged.valid && queue.io.occupancy === 0
}
