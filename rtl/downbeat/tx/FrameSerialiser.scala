// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.wire.TransmitBeat
import spinal.core._
import spinal.lib._

/** A beat of a frame, before its payload is inserted. */
case class HeaderBeat(config: DownbeatConfig) extends Bundle {
  val beat = TransmitBeat(config.vlanBits, config.beatBytes)
  /** Payload belongs in this beat, if any is left. */
  val splice = Bool()
  val endInBeat = UInt(config.beatByteBits - 2 bits) // as in FramePlan
}

/** Serialises a frame into beats: the words of its headers with the checksum inserted, then zeros for payload and
  * padding. It sends a beat every clock, without a clock between frames.
  */
case class FrameSerialiser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val frames = slave(Stream(FramePlan(config)))
    /** Words of the frames, in their order. */
    val words = slave(Stream(HeaderWord(config.beatBytes)))
    val beats = master(Stream(HeaderBeat(config)))
  }
  noIoPrefix()

  private val frame = io.frames
  private val word = io.words
  private val place = config.beatByteBits - 1 downto 0
  private val lastBeat = frame.lastByte(13 downto config.beatByteBits)
  private val nextBeat = Reg(UInt(widthOf(lastBeat) bits)) init 1
  private val inHeaders = RegInit(True)
  // This beat. A frame has more than one, unless its shortest fits one.
  private val checksumBeat = SegmentHeader.checksum / config.beatBytes
  private val hasChecksum = RegInit(Bool(checksumBeat == 0))
  private val isLast = RegInit(False)
  private val last = if (60 <= config.beatBytes) isLast || nextBeat === 1 && lastBeat === 0 else isLast
  private val headersEnd = word.fire && word.last
  private val frameEnds = io.beats.fire && last || frame.dropped && headersEnd

  when(headersEnd)(inHeaders := False)
  when(io.beats.fire) {
    nextBeat := nextBeat + 1
    hasChecksum := nextBeat === checksumBeat
    isLast := nextBeat === lastBeat
  }
  when(frameEnds) {
    nextBeat := 1
    inHeaders := True
    hasChecksum := Bool(checksumBeat == 0)
    isLast := False
  }

  private val beat = io.beats.beat
  beat.frame.data := inHeaders ? word.data | B(0, config.beatBits bits)
  when(hasChecksum)(beat.frame.data(8 * (SegmentHeader.checksum % config.beatBytes), 16 bits) := EndiannessSwap(
    ~frame.tcpSum.asBits))
  beat.frame.last := last
  beat.frame.vlan := frame.vlan
  beat.frame.keep(0) := True
  for (byte <- 1 until config.beatBytes) beat.frame.keep(byte) := !(last && frame.lastByte(place) < byte)
  beat.mode := frame.mode
  beat.launch := frame.launch
  beat.tag := frame.tag
  beat.lastByte := frame.lastByte
  io.beats.splice := frame.hasPayload && (!inHeaders || word.last)
  io.beats.endInBeat := frame.endInBeat

  io.beats.valid := frame.valid && !frame.dropped && (!inHeaders || word.valid)
  word.ready := frame.valid && inHeaders && (frame.dropped || io.beats.ready)
  frame.ready := frameEnds
}
