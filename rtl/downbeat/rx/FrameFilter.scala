// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.DownbeatConfig
import downbeat.flow.LocalAddresses
import spinal.core._
import spinal.lib._

/** Whose is the frame? Ours is what goes to our MAC as IPv4 (perhaps behind one 802.1Q tag), to our IP address, as TCP. All
  * else (ARP, broadcasts, IPv6, UDP, PTP ...) belongs to the bypass. The answer stands at the frame's last window; a frame that ends
  * before its IP destination is never ours.
  */
case class FrameFilter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val start = slave Flow (FrameStart())
    val windows = slave Flow (FrameWindow(config))
    val tagged = in Bool ()
    val ours = out Bool ()
  }
  noIoPrefix()

  private val macIsOurs, isIpv4, isTcp, ours = Reg(Bool())
  io.ours := ours

  private val ethernet = new WordPicker(io.windows, io.windows.pair, False)
  private def etherTypeIn(word: Int) = ethernet.word(word)(15 downto 0) === EtherType.ipv4
  when(ethernet.passes(3))(isIpv4 := etherTypeIn(3))
  when(ethernet.passes(4) && io.tagged)(isIpv4 := etherTypeIn(4))

  private val ip = new WordPicker(io.windows, io.windows.pair, io.tagged)
  when(ip.passes(6))(isTcp := ip.word(6)(23 downto 16) === 6)
  when(ip.passes(8))(ours := macIsOurs && isIpv4 && isTcp && ip.word(8).asUInt === io.local.ip)

  // After the words: the last window of a frame may come with the start of the next.
  when(io.start.valid) {
    macIsOurs := io.start.destinationMac === io.local.mac
    ours := False
  }
}
