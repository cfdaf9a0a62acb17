// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.messages.LocalAddresses
import downbeat.wire.{ArpFrame, EtherType, FrameBeat}
import spinal.core._
import spinal.lib._

/** An ARP packet to send. */
case class ArpMessage(vlanBits: Int) extends Bundle {
  /** To `mac` alone; otherwise a request, to all. */
  val isReply = Bool()
  val mac = Bits(48 bits) // a reply's
  /** Whom it is for, or who is asked for: our own address makes a request an announcement (RFC 5227 2.4). */
  val ip = UInt(32 bits)
  val vlan = UInt(vlanBits bits)
}

object ArpMessage {
  def request(ip: UInt, vlan: UInt): ArpMessage = make(isReply = False, B(0, 48 bits), ip, vlan)
  def reply(mac: Bits, ip: UInt, vlan: UInt): ArpMessage = make(isReply = True, mac, ip, vlan)

  private def make(isReply: Bool, mac: Bits, ip: UInt, vlan: UInt): ArpMessage = {
    val message = ArpMessage(widthOf(vlan))
    message.isReply := isReply
    message.mac := mac
    message.ip := ip
    message.vlan := vlan
    message
  }
}

/** Lays ARP packets out in beats: the smallest frame, 60 bytes. */
case class ArpSender(vlanBits: Int) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val messages = slave(Stream(ArpMessage(vlanBits)))
    val frames = master(Stream(FrameBeat(vlanBits)))
  }
  noIoPrefix()

  private val message = io.messages.halfPipe()
  private val words = {
    val destination = message.isReply ? message.mac | B(48 bits, default -> True)
    val operation = message.isReply ? B(ArpFrame.reply, 16 bits) | B(ArpFrame.request, 16 bits)
    val fields = Seq[Bits](
      destination, io.local.mac, B(EtherType.arp, 16 bits),
      B(1, 16 bits), B(EtherType.ipv4, 16 bits), B(0x0604, 16 bits), operation,
      io.local.mac, io.local.ip.asBits, message.mac, message.ip.asBits)
    val bytes = fields.flatMap(_.subdivideIn(8 bits).reverse).padTo(60, B(0, 8 bits))
    bytes.grouped(8).map(word => Cat(word).resize(64)).toSeq
  }

  private val position = Reg(UInt(log2Up(words.size) bits)) init 0
  private val last = position === words.size - 1
  when(io.frames.fire)(position := last ? U(0) | (position + 1))
  io.frames.valid := message.valid
  io.frames.data := words(0)
  switch(position) {
    for ((word, index) <- words.zipWithIndex.tail) is(index)(io.frames.data := word)
  }
  io.frames.keep := last ? B(0x0f, 8 bits) | B(0xff, 8 bits)
  io.frames.last := last
  io.frames.vlan := message.vlan
  message.ready := io.frames.ready && last
}
