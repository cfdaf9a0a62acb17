// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.DownbeatConfig
import downbeat.flow.LocalAddresses
import downbeat.wire.TransmitBeat
import spinal.core._
import spinal.lib._

/** A beat of a frame in which payload may be missing. */
case class HeaderBeat() extends Bundle {
  val beat = TransmitBeat()
  /** Payload belongs in this beat, if any is left. */
  val splice = Bool()
  /** The header ends 6 bytes into a beat, not 2: it is 14 bytes and a multiple of four. */
  val endsAtSix = Bool()
}

/** Lays a frame out in beats: first the headers, zeros in place of payload and padding. One beat a clock, no clock between frames. */
case class HeaderSerialiser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val frames = slave(Stream(OutgoingFrame(config)))
    val local = in(LocalAddresses())
    val beats = master(Stream(HeaderBeat()))
  }
  noIoPrefix()

  private val frame = io.frames
  private val header = frame.header
  private val words = header.words(io.local)

  // Where we are, each in a register of its own: the word of the headers, the beat, whether it is the last, whether payload has begun.
  private val word = Reg(UInt(log2Up(words.size + 1) bits)) init 0 // stays behind the last one
  private val nextBeat = Reg(UInt(11 bits)) init 1
  private val last, inPayload = RegInit(False)
  when(io.beats.fire) {
    when(word =/= words.size)(word := word + 1)
    nextBeat := nextBeat + 1
    last := nextBeat === frame.lastByte(13 downto 3) // a frame has more than one beat
    inPayload setWhen (word + 1 === header.length(6 downto 3))
    when(last) {
      word := 0
      nextBeat := 1
      last := False
      inPayload := False
    }
  }

  private val beat = io.beats.beat
  beat.frame.data := 0
  switch(word) {
    for ((bytes, position) <- words.zipWithIndex) is(position)(beat.frame.data := bytes)
  }
  beat.frame.last := last
  beat.frame.keep(0) := True
  for (byte <- 1 until config.beatBytes) beat.frame.keep(byte) := !(last && frame.lastByte(2 downto 0) < byte)
  beat.mode := frame.mode
  beat.launch := frame.launch
  beat.tag := frame.tag
  io.beats.splice := frame.hasPayload && inPayload
  io.beats.endsAtSix := header.length(2)

  io.beats.valid := frame.valid
  frame.ready := io.beats.ready && last
}
