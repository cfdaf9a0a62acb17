// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.messages.ControlBeat
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** Passes control frames on word by word. Behind each frame it pauses until the checksums have settled; then the frame
  * is checked.
  */
case class ControlReader(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val control = slave(Stream(ControlBeat(config.vlanBits)))
    val words = master(Flow(ControlWord()))
    /** The same beats as the wire had them, but for a tag. */
    val beats = master(Flow(FrameBeat()))
    /** The frame's length. */
    val bytes = out UInt (14 bits)
    /** Its VLAN. */
    val vlan = out UInt (config.vlanBits bits)
    val judgeArp, judgeIcmp = out Bool ()
    val idle = out Bool ()
  }
  noIoPrefix()

  private val index = Reg(UInt(11 bits)) init 0
  private val settling = Reg(UInt(3 bits)) init 0
  private val isArp = Reg(Bool())
  private val beat = (if (config.vlans > 0) VlanTagRemover(config, io.control) else io.control).m2sPipe()
  private val judging = settling === ControlReader.settling
  beat.ready := settling === 0

  when(beat.fire) {
    index := beat.frame.last ? U(0) | (index + 1)
    isArp := beat.isArp
    io.bytes.setAsReg() := (index @@ U(0, 3 bits)) + CountOne(beat.frame.keep)
    when(beat.frame.last)(settling := 1)
  }
  when(settling =/= 0)(settling := judging ? U(0) | (settling + 1))

  io.words.valid := beat.fire
  io.words.data := beat.frame.data
  io.words.index := index
  io.words.last := beat.frame.last
  io.beats.valid := beat.fire
  io.beats.payload.takesBytes(beat.frame)
  io.vlan := RegNextWhen(beat.frame.vlan, beat.fire)
  io.judgeArp := judging && isArp
  io.judgeIcmp := judging && !isArp
  io.idle := !beat.valid && settling === 0
}

object ControlReader {
  /** Clocks from a frame's last word to its judgement; the sums need six. */
  val settling = 7
}
