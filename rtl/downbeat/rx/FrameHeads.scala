// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{FrameBeat, ReceivedBeat}
import spinal.core._
import spinal.lib._

/** Facts of a whole frame. A tag's four bytes come on top of the limit (802.3 3.2.7). */
case class FrameEnd(config: DownbeatConfig) extends Bundle {
  val bytes = UInt(config.frameByteBits bits)
  /** It is longer than the configuration allows. */
  val oversize, oversizeTagged = Bool()
  /** The MAC found it damaged. */
  val error = Bool()
}

/** Eight bytes of a frame's head: its headers, whatever the width of its beats. */
case class HeadBeat(config: DownbeatConfig) extends Bundle {
  val data = Bits(64 bits)
  val last = Bool()
  val stamp = Stamp() // read with the first
  val end = FrameEnd(config) // read with the last
}

/** A beat to be written into memory. */
case class StoredBeat(config: DownbeatConfig) extends Bundle {
  val frame = FrameBeat(bytes = config.beatBytes)
  /** Number of the beat in its frame. Stops counting beyond the largest frame. */
  val index = UInt(config.slotBeatBits + 1 bits)
}

/** Takes frames of any width, a beat a clock, and gives their heads eight bytes a clock to what reads headers.
  *
  * With beats of eight bytes a head is the whole frame. Wider beats gather in a register of the largest headers (VLAN,
  * IPv4 and TCP with all options: 138 bytes), whose words follow while the payload passes. A head's first word leaves
  * together with its frame's first beat, so nothing of a frame passes before the head of the one before it has. Its
  * last word waits for the frame's last beat, and comes as soon as `enough` holds. So a frame takes a clock for each
  * beat and one more, but no less than one for each eight bytes of its headers, or of the frame if that is shorter.
  */
case class FrameHeads(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (ReceivedBeat(config.beatBytes))
    val heads = master Stream (HeadBeat(config))
    /** The number of the head's word that comes next. */
    val position = out UInt (5 bits)
    /** The header ends in that word or before it. Read a clock later. */
    val enough = in Bool ()
    /** The beats, as they pass. */
    val passing = master Flow (StoredBeat(config))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val beat = io.beats.payload
  private val index = Reg(UInt(config.slotBeatBits + 1 bits)) init 0
  when(io.beats.fire) {
    when(beat.frame.last)(index := 0).elsewhen(!index.msb)(index := index + 1)
  }
  io.passing.valid := io.beats.fire
  io.passing.frame := beat.frame
  io.passing.index := index

  private val end = FrameEnd(config)
  end.bytes := (index @@ U(0, config.beatByteBits bits)).resize(config.frameByteBits) + CountOne(beat.frame.keep)
  private def beyond(limit: Int) = {
    val number = limit / config.beatBytes
    U(number) < index || (index === number && beat.frame.keep(limit % config.beatBytes))
  }
  private val limit = config.maximumFrameBytes - 4
  end.oversize := beyond(limit)
  end.oversizeTagged := beyond(limit + 4)
  end.error := beat.error
  io.heads.stamp := beat.stamp

  if (config.beatBytes == 8) {
    io.heads.arbitrationFrom(io.beats)
    io.heads.data := beat.frame.data
    io.heads.last := beat.frame.last
    io.heads.end := end
    io.position := 0
    io.idle := !io.beats.valid
  } else {
    val beats = (FrameHeads.bytes + config.beatBytes - 1) / config.beatBytes
    val lastPosition = (FrameHeads.bytes + 7) / 8 - 1
    val wordBits = config.beatByteBits - 3

    val position = Reg(UInt(5 bits)) init 0
    val begins = position === 0
    val gathered = Reg(Vec.fill(beats)(Bits(config.beatBits bits)))
    val taken = Reg(UInt(log2Up(beats + 1) bits)) init 0
    val ended = RegInit(False)
    val endReached = RegNextWhen(end, io.beats.fire && beat.frame.last)
    // Beyond the largest headers it does not matter how far.
    val lastWord = Reg(UInt(config.frameByteBits - 3 bits))

    io.beats.ready := begins ? io.heads.ready | !ended
    when(io.beats.fire) {
      for (number <- 0 until beats) when(taken === number)(gathered(number) := beat.frame.data)
      when(taken =/= beats)(taken := taken + 1)
      ended := beat.frame.last
      lastWord := ((end.bytes - 1) >> 3).resized
    }

    val enough = RegNext(io.enough)
    val holds = enough || position === lastPosition
    val arrived = ended || (position >> wordBits) < taken
    val words = gathered.asBits.subdivideIn(64 bits)
    io.heads.valid := begins ? io.beats.valid | (arrived && (!holds || ended))
    io.heads.data := begins ? beat.frame.data(63 downto 0) | words(position.resize(log2Up(words.size)))
    io.heads.last := begins ? (beat.frame.last && !beat.frame.keep(8)) | (ended && (holds || position === lastWord))
    io.heads.end := begins ? end | endReached
    when(io.heads.fire) {
      position := position + 1
      when(io.heads.last) {
        position := 0
        taken := 0
        ended := False
      }
    }
    io.position := position
    io.idle := !io.beats.valid && begins
  }
}

object FrameHeads {
  /** Ethernet with a tag, IPv4 and TCP with all options. */
  private val bytes = 18 + 60 + 60
}
