// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.messages.ControlBeat
import spinal.core._
import spinal.lib._

/** Takes the tag out of the frames of a VLAN, so that ARP and ICMP lie where they do without. A frame has at least
  * three beats; others pass unchanged.
  */
case class VlanTagRemover(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val tagged = slave(Stream(ControlBeat(config.vlanBits)))
    val plain = master(Stream(ControlBeat(config.vlanBits)))
  }
  noIoPrefix()

  private val frame = io.tagged.frame
  private val removes = frame.vlan.orR
  /** The first beat; the second, with the tag; what is left of the last one. */
  private val begins = RegInit(True)
  private val hasTag, behind = RegInit(False)
  private val moved = Reg(Bits(32 bits))

  private val swallows = removes && hasTag
  private val ends = removes && frame.last
  private val splits = ends && frame.keep(4) && !behind

  io.plain.valid := io.tagged.valid && !swallows
  io.plain.payload := io.tagged.payload
  io.tagged.ready := swallows || io.plain.ready && !splits
  private val beat = io.plain.frame.allowOverride()
  beat.last := frame.last && !splits
  when(removes && !begins) {
    beat.data := (behind ? B(0, 32 bits) | frame.data(31 downto 0)) ## moved
    when(ends)(beat.keep := behind ? frame.keep(7 downto 4).resize(8) | (frame.keep(3 downto 0) ## B"1111"))
  }
  when(io.plain.fire || swallows && io.tagged.valid) {
    begins := frame.last && !splits
    hasTag := begins
    behind := splits
    moved := hasTag ? frame.data(31 downto 0) | frame.data(63 downto 32)
  }
}

object VlanTagRemover {
  def apply(config: DownbeatConfig, tagged: Stream[ControlBeat]): Stream[ControlBeat] = {
    val remover = VlanTagRemover(config)
    remover.io.tagged << tagged
    remover.io.plain
  }
}
