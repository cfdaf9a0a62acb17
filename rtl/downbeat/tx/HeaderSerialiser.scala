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
  private val index = Reg(UInt(11 bits)) init 0
  private val last = index === frame.lastByte(13 downto 3)
  private val headerLength = frame.header.length

  private val beat = io.beats.beat
  beat.frame.data := 0
  switch(index) {
    for ((word, position) <- frame.header.words(io.local).zipWithIndex) is(position)(beat.frame.data := word)
  }
  beat.frame.last := last
  beat.frame.keep(0) := True
  for (byte <- 1 until config.beatBytes) beat.frame.keep(byte) := !(last && frame.lastByte(2 downto 0) < byte)
  beat.mode := frame.mode
  beat.launch := frame.launch
  beat.tag := frame.tag
  io.beats.splice := frame.hasPayload && !(index < headerLength(headerLength.high downto 3))
  io.beats.endsAtSix := headerLength(2)

  io.beats.valid := frame.valid
  frame.ready := io.beats.ready && last
  when(io.beats.fire)(index := last ? U(0) | index + 1)
}
