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
    val frames = slave(Stream(TransmitBeat(config.vlanBits)))
    val wire = master(Stream(TransmitBeat()))
  }
  noIoPrefix()

  private val frame = io.frames.frame
  private val tagged = frame.vlan.orR
  /** The first beat, the second, and what a beat did not fit into the one behind it. */
  private val begins = RegInit(True)
  private val holdsTag, behind = RegInit(False)
  private val moved = Reg(Bits(32 bits))

  private val tag = B(EtherType.tag, 16 bits) ## io.vlans(VlanTagInserter.place(frame.vlan, config)).tagControl
  private val ends = tagged && frame.last
  private val splits = ends && frame.keep(4) && !behind

  io.wire.valid := io.frames.valid
  io.wire.mode := io.frames.mode
  io.wire.launch := io.frames.launch
  io.wire.tag := io.frames.tag
  io.frames.ready := io.wire.ready && !splits
  private val beat = io.wire.frame.allowOverride()
  beat.takesBytes(frame)
  beat.last := frame.last && !splits
  when(tagged && !begins) {
    beat.data := holdsTag ? (EndiannessSwap(tag) ## frame.data(31 downto 0)) | (frame.data(31 downto 0) ## moved)
    when(behind)(beat.data := B(0, 32 bits) ## moved)
    when(ends)(beat.keep := behind ? frame.keep(7 downto 4).resize(8) | (frame.keep(3 downto 0) ## B"1111"))
  }
  when(io.wire.fire) {
    begins := frame.last && !splits
    holdsTag := begins
    behind := splits
    moved := frame.data(63 downto 32)
  }
}

object VlanTagInserter {
  /** The place of a VLAN in the table. */
  def place(vlan: UInt, config: DownbeatConfig): UInt = (vlan - 1).resize(log2Up(config.vlans))
}
