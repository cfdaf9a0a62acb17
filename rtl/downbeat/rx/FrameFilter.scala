// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.{LocalAddresses, Vlan}
import downbeat.wire.{ArpFrame, EtherType, IcmpType, IpProtocol}
import spinal.core._
import spinal.lib._

/** Decides who gets a frame: the core (`ours`), the neighbour module (`control`) or the bypass. The decision is valid
  * at the frame's last window. A frame that ends before the deciding bytes goes to the bypass.
  *
  *  - ours: to our MAC, IPv4, to our IP address, TCP;
  *  - control: any ARP to our MAC or to all; an ICMP echo request or ICMP error to our MAC and IP address, not a
  *    fragment and without IP options;
  *  - bypass: everything else (IPv6, UDP, PTP, broadcasts ...). An ARP request for our address and an echo request are
  *    answered here and do not go to the bypass. ARP replies and ICMP errors go both ways, because a program behind the
  *    bypass that shares our address waits for its own.
  *
  * Both of the first kinds are untagged, or behind one tag of a VLAN of ours (802.1Q 9.6). TCP may also be behind a tag
  * of VID 0, which gives a priority and names no VLAN (802.1Q 6.9): it counts as untagged. Frames of other VLANs, and
  * those with two tags, take the bypass.
  */
case class FrameFilter(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val start = slave Flow (FrameStart())
    val windows = slave Flow (FrameWindow(config))
    val tagged = in Bool ()
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan()))
    val ours, control, bypass = out Bool ()
    /** The VLAN's number for `ours` and `control`. */
    val vlan = out UInt (config.vlanBits bits)
    /** It is to our MAC, behind two tags or that of a VLAN that is not ours. */
    val otherVlan = out Bool ()
    /** Read with `control`: it is ARP, not ICMP. */
    val isArp = out Bool ()
  }
  noIoPrefix()

  private val macIsOurs, macIsBroadcast, isIpv4, isTcp, ipIsOurs, ours = Reg(Bool())
  private val isPlain, isWhole, isIcmp, isEcho, isError =
    Reg(Bool()) // without options; no fragment; ICMP, and which
  private val isArp, isRequest, isRequestForUs = Reg(Bool())
  private val otherVlan = RegInit(False)
  io.otherVlan := otherVlan

  /** The tag's VLAN; two clocks after it has passed, when the IP addresses come. */
  private val tag = (config.vlans > 0) generate new Area {
    val identifier = Reg(UInt(12 bits))
    val isArp, isDouble = Reg(Bool())
    private val known = io.vlans.map(vlan => RegNext(vlan.isUsed && vlan.identifier === identifier))
    val isOurs = known.orR
    val isPriority = RegNext(identifier === 0)
    val number = known.zipWithIndex.foldRight(U(0, config.vlanBits bits)) { case ((is, place), others) =>
      is ? U(place + 1, config.vlanBits bits) | others
    }
  }
  private val (isNetworkOfOurs, isPrioritised) =
    if (config.vlans > 0) (!io.tagged || tag.isOurs, io.tagged && tag.isPriority) else (!io.tagged, io.tagged)
  io.vlan := (if (config.vlans > 0) io.tagged ? tag.number | U(0) else U(0))
  private val icmpToUs = ipIsOurs && isPlain && isWhole && isIcmp
  io.ours := ours
  private val isArpForUs = isArp && (macIsOurs || macIsBroadcast)
  io.isArp := isArpForUs
  io.control := isArpForUs || icmpToUs && (isEcho || isError)
  io.bypass := !(ours || isRequestForUs || icmpToUs && isEcho)

  // Before the words: a wide frame's first window comes with its start.
  when(io.start.valid) {
    macIsOurs := io.start.destinationMac === io.local.mac
    macIsBroadcast := io.start.destinationMac.andR
    ipIsOurs := False
    ours := False
    isArp := False
    isEcho := False
    isError := False
    isRequestForUs := False
    otherVlan := False
  }

  private val ethernet = new WordPicker(io.windows, io.windows.pair, False)
  private def etherTypeIn(word: Int) = ethernet.word(word)(15 downto 0)
  when(ethernet.passes(3)) {
    isIpv4 := etherTypeIn(3) === EtherType.ipv4
    isArp := etherTypeIn(3) === EtherType.arp
  }
  when(ethernet.passes(4) && io.tagged) {
    val identifier = ethernet.word(4)(27 downto 16).asUInt
    if (config.vlans > 0) {
      tag.identifier := identifier
      tag.isArp := etherTypeIn(4) === EtherType.arp
      tag.isDouble := etherTypeIn(4) === EtherType.tag
    }
    isIpv4 := etherTypeIn(4) === EtherType.ipv4 && (if (config.vlans > 0) True else !identifier.orR)
  }

  private val ip = new WordPicker(io.windows, io.windows.pair, io.tagged)
  when(ip.passes(4))(isPlain := ip.word(4)(27 downto 24) === 5)
  when(ip.passes(5)) {
    isWhole := !ip.word(5)(13 downto 0).orR
    isRequest := ip.word(5)(15 downto 0) === ArpFrame.request
  }
  when(ip.passes(6)) {
    isTcp := ip.word(6)(23 downto 16) === IpProtocol.tcp
    isIcmp := ip.word(6)(23 downto 16) === IpProtocol.icmp
  }
  when(ip.passes(8)) {
    ipIsOurs := macIsOurs && isIpv4 && ip.word(8).asUInt === io.local.ip && isNetworkOfOurs
    ours := macIsOurs && isIpv4 && isTcp && ip.word(8).asUInt === io.local.ip && (isNetworkOfOurs || isPrioritised)
    if (config.vlans > 0) {
      when(io.tagged)(isArp := tag.isArp && tag.isOurs)
      otherVlan := io.tagged && macIsOurs && (tag.isDouble || !tag.isOurs && !tag.isPriority)
    }
  }
  when(ip.passes(9)) {
    val kind = ip.word(9)(31 downto 24)
    isEcho := kind === IcmpType.echoRequest
    isError := IcmpType.errors.map(kind === _).orR
  }
  when(ip.passes(10))(isRequestForUs := isArpForUs && isRequest && ip.word(10).asUInt === io.local.ip)
}
