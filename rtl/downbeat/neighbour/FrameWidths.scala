// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.messages.ControlBeat
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** Cuts beats of any width into eight bytes each: ARP and ICMP are rare, so what reads them is narrow at every width.
  */
case class ControlNarrower(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val wide = slave(Stream(ControlBeat(config.vlanBits, config.beatBytes)))
    val narrow = master(Stream(ControlBeat(config.vlanBits)))
  }
  noIoPrefix()

  private val wide = io.wide.frame
  private val place = Reg(UInt(log2Up(config.beatBytes / 8) bits)) init 0
  private val keeps = wide.keep.subdivideIn(8 bits)
  // The beat's last part: that behind it is empty, or there is none.
  private val ends = Vec(keeps.tail.map(!_(0)).toSeq :+ True)(place)
  when(io.narrow.fire)(place := ends ? U(0) | place + 1)

  io.narrow.valid := io.wide.valid
  io.narrow.isArp := io.wide.isArp
  io.narrow.frame.data := wide.data.subdivideIn(64 bits)(place)
  io.narrow.frame.keep := keeps(place)
  io.narrow.frame.last := wide.last && ends
  io.narrow.frame.vlan := wide.vlan
  io.wide.ready := io.narrow.ready && ends
}

/** Puts eight bytes each together to beats of any width. A beat leaves while the next one begins. */
case class FrameWidener(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val narrow = slave(Stream(FrameBeat(config.vlanBits)))
    val wide = master(Stream(FrameBeat(config.vlanBits, config.beatBytes)))
  }
  noIoPrefix()

  private val parts = Vec.fill(config.beatBytes / 8)(Reg(Bits(64 bits)))
  private val keeps = Vec.fill(parts.size)(Reg(Bits(8 bits)))
  private val place = Reg(UInt(log2Up(parts.size) bits)) init 0
  private val full = RegInit(False)

  io.narrow.ready := !full || io.wide.ready
  when(io.wide.fire)(full := False)
  when(io.narrow.fire) {
    for (number <- parts.indices) {
      when(place === number) {
        parts(number) := io.narrow.data
        keeps(number) := io.narrow.keep
      } elsewhen (place === 0)(keeps(number) := 0)
    }
    val fills = io.narrow.last || place.andR
    place := fills ? U(0) | place + 1
    full := fills
  }
  io.wide.valid := full
  io.wide.data := parts.asBits
  io.wide.keep := keeps.asBits
  io.wide.last := RegNextWhen(io.narrow.last, io.narrow.fire)
  io.wide.vlan := RegNextWhen(io.narrow.vlan, io.narrow.fire)
}
