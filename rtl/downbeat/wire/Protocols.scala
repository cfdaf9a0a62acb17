// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

/** EtherTypes that the core knows. */
object EtherType {
  val ipv4 = 0x0800
  val arp = 0x0806
  val tag = 0x8100 // 802.1Q C-tag
  val macControl = 0x8808 // IEEE 802.3 annex 31A: pause
}

/** Protocol numbers of IPv4's payload. */
object IpProtocol {
  val icmp = 1
  val tcp = 6
}

/** ICMP messages (RFC 792) that the core takes. */
object IcmpType {
  val echoReply = 0
  val unreachable = 3
  val echoRequest = 8
  val timeExceeded = 11
  val parameterProblem = 12

  /** Those that carry the beginning of a packet of ours. Source quench (RFC 6633) and redirects are not among them. */
  val errors = Seq(unreachable, timeExceeded, parameterProblem)
}

/** ARP for IPv4 on Ethernet (RFC 826). */
object ArpFrame {
  val request = 1
  val reply = 2
}
