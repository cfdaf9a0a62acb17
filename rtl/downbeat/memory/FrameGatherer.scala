// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.messages.ApplicationBeat
import spinal.core._
import spinal.lib._

/** A frame, or 2 KiB of a longer one; all of its words are in the queue. */
case class Chunk(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  /** Bytes less one. */
  val length = UInt(log2Up(MemoryPort.pageBytes) bits)
  /** The end of its frame; that is also the end of urgent data. */
  val last, urgent = Bool()
}

/** Gathers application data until a whole burst is there. The length of a frame is not known before its end, and a
  * burst must not wait for data: an application that pauses within a frame stalls no other flow.
  */
case class FrameGatherer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val data = slave(Stream(ApplicationBeat(config)))
    /** Frames that have begun, since reset; modulo 256. */
    val begun = out(UInt(ApplicationBeat.frameCountBits bits))
    val chunks = master(Stream(Chunk(config)))
    val words = master(Stream(Bits(config.beatBits bits)))
    /** No chunk waits and no frame is half here. */
    val idle = out(Bool())
  }
  noIoPrefix()

  private val beat = Reg(UInt(MemoryPort.pageWordBits(config) bits)) init 0
  private val within = RegInit(False)
  private val begun = Reg(UInt(ApplicationBeat.frameCountBits bits)) init 0
  io.begun := begun
  private val closes = io.data.last || beat === beat.maxValue

  private val (words, chunks) = StreamFork2(io.data, synchronous = true)
  when(io.data.fire) {
    beat := closes ? U(0) | beat + 1
    within := !io.data.last
    when(!within)(begun := begun + 1)
  }

  private val stored = words.map(_.data).queue(2 * MemoryPort.pageBytes / config.beatBytes, forFMax = true)
  io.words << stored.m2sPipe(holdPayload = true).s2mPipe()

  io.chunks << chunks.takeWhen(closes).map { end =>
    val chunk = Chunk(config)
    chunk.flow := end.flow
    chunk.last := end.last
    chunk.urgent := end.urgent
    chunk.length := beat @@ CountOne(end.keep(config.beatBytes - 1 downto 1))
    chunk
  }.queue(16, latency = 1)

  io.idle := !within && !io.chunks.valid
}
