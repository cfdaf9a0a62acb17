// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** What a line keeps of a frame beside the words of its headers. */
case class FramePlan(config: DownbeatConfig) extends Bundle {
  /** The ones' complement sum of all that TCP sums up, not yet inverted. */
  val tcpSum = UInt(16 bits)
  /** Index of the frame's last byte, padding included. */
  val lastByte = UInt(14 bits)
  val hasPayload = Bool()
  /** The headers end 6 bytes into a word, not 2: they are 14 bytes and a multiple of four. */
  val endsAtSix = Bool()
  /** Its headers leave the line, but nobody sees them. */
  val dropped = Bool()
  val mode = LaunchMode()
  val launch = Stamp()
  val tag = UInt(16 bits) // as in TransmitBeat
}

object FramePlan {
  def apply(frame: OutgoingFrame): FramePlan = {
    val plan = FramePlan(frame.config)
    plan.assignSomeByName(frame)
    plan.tcpSum := frame.header.tcpSum
    plan.endsAtSix := frame.header.endsAtSix
    plan.dropped := False
    plan
  }
}

/** The same of one that carries nothing and goes as soon as possible: a pure ACK, a RST. */
case class ImmediatePlan() extends Bundle {
  val tcpSum = UInt(16 bits)
  val lastByte = UInt(7 bits)

  def frame(config: DownbeatConfig): FramePlan = {
    val plan = FramePlan(config)
    plan.tcpSum := tcpSum
    plan.lastByte := lastByte.resized
    plan.hasPayload := False
    plan.endsAtSix := False // of interest to payload only
    plan.dropped := False
    plan.mode := LaunchMode.asap
    plan.launch := Stamp.zero
    plan.tag := 0
    plan
  }
}

object ImmediatePlan {
  def apply(header: SegmentHeader): ImmediatePlan = {
    val plan = ImmediatePlan()
    plan.tcpSum := header.tcpSum
    plan.lastByte := header.lastByte.resized
    plan
  }
}

/** A beat of a frame in which payload may be missing. */
case class HeaderBeat() extends Bundle {
  val beat = TransmitBeat()
  /** Payload belongs in this beat, if any is left. */
  val splice = Bool()
  val endsAtSix = Bool() // as in FramePlan
}

/** Lays a frame out in beats: the words of its headers with the checksum in its place, then zeros for payload and padding. One beat a
  * clock, no clock between frames.
  */
case class FrameSerialiser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val frames = slave(Stream(FramePlan(config)))
    /** Of the frames, in their order. */
    val words = slave(Stream(HeaderWord()))
    val beats = master(Stream(HeaderBeat()))
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
