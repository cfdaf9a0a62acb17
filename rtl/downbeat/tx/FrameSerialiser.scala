// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.wire.TransmitBeat
import spinal.core._
import spinal.lib._

/** A beat of a frame, before its payload is inserted. */
case class HeaderBeat(vlanBits: Int) extends Bundle {
  val beat = TransmitBeat(vlanBits)
  /** Payload belongs in this beat, if any is left. */
  val splice = Bool()
  val endsAtSix = Bool() // as in FramePlan
}

/** Serialises a frame into beats: the words of its headers with the checksum inserted, then zeros for payload and
  * padding. It sends a beat every clock, without a clock between frames.
  */
case class FrameSerialiser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val frames = slave(Stream(FramePlan(config)))
    /** Words of the frames, in their order. */
    val words = slave(Stream(HeaderWord()))
    val beats = master(Stream(HeaderBeat(config.vlanBits)))
  }
  noIoPrefix()

  private val frame = io.frames
  private val word = io.words
  private val nextBeat = Reg(UInt(11 bits)) init 1
  private val inHeaders = RegInit(True)
  private val hasChecksum, last = RegInit(False) // this beat
  private val headersEnd = word.fire && word.last
  private val frameEnds = io.beats.fire && last || frame.dropped && headersEnd

  when(headersEnd)(inHeaders := False)
  when(io.beats.fire) {
    nextBeat := nextBeat + 1
    hasChecksum := nextBeat === SegmentHeader.checksumWord
    last := nextBeat === frame.lastByte(13 downto 3) // a frame has more than one beat
  }
  when(frameEnds) {
    nextBeat := 1
    inHeaders := True
    hasChecksum := False
    last := False
  }

  private val beat = io.beats.beat
  beat.frame.data := inHeaders ? word.data | B(0, 64 bits)
  when(hasChecksum)(SegmentHeader.checksumIn(beat.frame.data) := EndiannessSwap(~frame.tcpSum.asBits))
  beat.frame.last := last
  beat.frame.vlan := frame.vlan
  beat.frame.keep(0) := True
  for (byte <- 1 until config.beatBytes) beat.frame.keep(byte) := !(last && frame.lastByte(2 downto 0) < byte)
  beat.mode := frame.mode
  beat.launch := frame.launch
  beat.tag := frame.tag
  io.beats.splice := frame.hasPayload && (!inHeaders || word.last)
  io.beats.endsAtSix := frame.endsAtSix

  io.beats.valid := frame.valid && !frame.dropped && (!inHeaders || word.valid)
  word.ready := frame.valid && inHeaders && (frame.dropped || io.beats.ready)
  frame.ready := frameEnds
}
