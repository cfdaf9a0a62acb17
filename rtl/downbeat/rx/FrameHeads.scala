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

/** A beat of which headers are read. */
case class HeadBeat(config: DownbeatConfig) extends Bundle {
  val data = Bits(config.beatBits bits)
  val first, last = Bool()
  /** The frame's last word of eight bytes. Read with the last. */
  val lastWord = UInt(config.frameByteBits - 3 bits)
  val stamp = Stamp() // read with the first
  val end = FrameEnd(config) // read with the last
}

/** A beat to be written into memory. */
case class StoredBeat(config: DownbeatConfig) extends Bundle {
  val frame = FrameBeat(bytes = config.beatBytes)
  /** Number of the beat in its frame. Stops counting beyond the largest frame. */
  val index = UInt(config.slotBeatBits + 1 bits)
}

/** Takes frames of any width, a beat a clock, and gives their headers as aligned windows of eight bytes. */
case class FrameHeads(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (ReceivedBeat(config.beatBytes))
    val windows = master Stream (FrameWindow(config))
    /** Before a frame's windows, or with the first that holds words. */
    val start = master Flow (FrameStart())
    /** Read with `windows.end`. */
    val end = out(FrameEnd(config))
    /** The header ends in the window that passes. */
    val headerEnds = in Bool ()
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

  private val first = RegNextWhen(beat.frame.last, io.beats.fire) init True
  private val heads = io.beats.map { beat =>
    val head = HeadBeat(config)
    head.data := beat.frame.data
    head.first := first
    head.last := beat.frame.last
    head.lastWord := (index @@ U(0, config.beatByteBits - 3 bits)).resize(widthOf(head.lastWord)) +
      CountOne((8 until config.beatBytes by 8).map(beat.frame.keep(_)) :+ False)
    head.stamp := beat.stamp
    head.end := end
    head
  }
  private val (windows, start, ended, idle) = if (config.beatBytes == 8) {
    val aligner = FrameAligner(config)
    aligner.io.beats << heads
    (aligner.io.windows, aligner.io.start, aligner.io.end, !io.beats.valid)
  } else {
    val aligner = WideAligner(config)
    aligner.io.beats << heads
    aligner.io.headerEnds := io.headerEnds
    (aligner.io.windows, aligner.io.start, aligner.io.end, !io.beats.valid && aligner.io.idle)
  }
  io.windows << windows
  io.start << start
  io.end := ended
  io.idle := idle
}
