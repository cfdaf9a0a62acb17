// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.Vlan
import downbeat.wire.{EtherType, TransmitBeat}
import spinal.core._
import spinal.lib._

/** Inserts the tag of a frame's VLAN (802.1Q 9.3) behind the source address: the four bytes move all that follow, and a
  * frame may get a beat more. Untagged frames pass unchanged, and without a clock of delay. A padded frame stays as
  * long as it was before the tag: 64 bytes without FCS (802.1Q G.2.3 allows 60 or 64).
  */
case class VlanTagInserter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val vlans = in(Vec.fill(config.vlans)(Vlan()))
    val frames = slave(Stream(TransmitBeat(config.vlanBits, config.beatBytes)))
    val wire = master(Stream(TransmitBeat(bytes = config.beatBytes)))
  }
  noIoPrefix()

  private val frame = io.frames.frame
  private val tagged = frame.vlan.orR
  private val bits = config.beatBits
  private val place = VlanTagInserter.tagAt % config.beatBytes * 8 // bit of its beat at which the tag is
  /** The first beat, the second, and what a beat did not fit into the one behind it. */
  private val begins = RegInit(True)
  private val follows, behind = RegInit(False)
  private val before = if (config.beatBytes == 8) begins else False // the beats without and with the tag
  private val holdsTag = if (config.beatBytes == 8) follows else begins
  private val moved = Reg(Bits(32 bits))

  private val tag = B(EtherType.tag, 16 bits) ## io.vlans(VlanTagInserter.place(frame.vlan, config)).tagControl
  private val ends = tagged && frame.last
  private val splits = ends && frame.keep(config.beatBytes - 4) && !behind

  io.wire.valid := io.frames.valid
  io.wire.mode := io.frames.mode
  io.wire.launch := io.frames.launch
  io.wire.tag := io.frames.tag
  io.wire.lastByte := io.frames.lastByte + ((tagged && io.frames.lastByte.orR) ? U(4, 14 bits) | U(0, 14 bits))
  io.frames.ready := io.wire.ready && !splits
  private val beat = io.wire.frame.allowOverride()
  beat.takesBytes(frame)
  beat.last := frame.last && !splits
  when(tagged && !before) {
    val fits = frame.data(bits - 33 downto 0)
    beat.data := holdsTag ? ((fits >> place) ## EndiannessSwap(tag) ## frame.data(place - 1 downto 0)) | (fits ## moved)
    when(behind)(beat.data := moved.resized)
    when(ends) {
      val fitting = config.beatBytes - 4
      val over = frame.keep(config.beatBytes - 1 downto fitting).resize(config.beatBytes)
      beat.keep := behind ? over | (frame.keep(fitting - 1 downto 0) ## B"1111")
    }
  }
  when(io.wire.fire) {
    begins := frame.last && !splits
    follows := begins
    behind := splits
    moved := frame.data(bits - 1 downto bits - 32)
  }
}

object VlanTagInserter {
  /** Byte of a frame at which the tag is. */
  private val tagAt = 12
  /** The place of a VLAN in the table. */
  def place(vlan: UInt, config: DownbeatConfig): UInt = (vlan - 1).resize(log2Up(config.vlans))
}
