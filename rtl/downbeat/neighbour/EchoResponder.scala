// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.messages.LocalAddresses
import downbeat.rx.FrameQueue
import downbeat.wire.{FrameBeat, IcmpType, IpProtocol}
import spinal.core._
import spinal.lib._

/** Answers ICMP echo requests with their own frames (RFC 1122 3.2.2.6). Every control frame is stored as it comes, and
  * kept if it is a valid request. A frame that does not fit is dropped and counted.
  */
case class EchoResponder(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val beats = slave(Flow(FrameBeat()))
    /** The frame whose last beat has passed: to be answered, or forgotten. */
    val judge = in Bool ()
    val echo = slave(Flow(EchoChanges(config.vlanBits))) // with `judge`
    val replies = master(Stream(FrameBeat(config.vlanBits)))
    val overflow = out Bool ()
    val idle = out Bool ()
  }
  noIoPrefix()

  private val queue = FrameQueue(config, EchoChanges(config.vlanBits), frames = 8, bytes = 8)
  queue.io.stored << io.beats
  queue.io.end := io.judge
  queue.io.keep := io.echo.valid
  queue.io.note := io.echo.payload
  io.overflow := queue.io.overflow

  private val beats = queue.io.frames
  private val changes = beats.note
  private val index = Reg(UInt(3 bits)) init 0 // stays where nothing changes any more
  when(beats.fire)(index := beats.frame.last ? U(0) | ((index === 5) ? index | (index + 1)))

  private def bytes(first: Int, count: Int): Bits = beats.frame.data(8 * first, 8 * count bits)
  /** In order of the wire, from values whose first byte is uppermost and from bytes as they are. */
  private def word(parts: Bits*): Bits = Cat(parts)
  private def swapped(value: Bits): Bits = EndiannessSwap(value)
  private val ownMac = swapped(io.local.mac)
  private val ip = swapped(changes.ip.asBits)

  io.replies.arbitrationFrom(beats)
  io.replies.takesBytes(beats.frame)
  io.replies.vlan := changes.vlan
  switch(index) {
    is(0)(io.replies.data := word(swapped(changes.mac), ownMac(15 downto 0)))
    is(1)(io.replies.data := word(ownMac(47 downto 16), bytes(4, 4)))
    is(2)(io.replies.data := word(bytes(0, 6), B(EchoResponder.timeToLive, 8 bits), B(IpProtocol.icmp, 8 bits)))
    is(3)(io.replies.data := word(swapped(changes.ipChecksum), swapped(io.local.ip.asBits), ip(15 downto 0)))
    is(4)(io.replies.data := word(ip(31 downto 16), B(IcmpType.echoReply, 8 bits), bytes(3, 1),
      swapped(changes.icmpChecksum), bytes(6, 2)))
  }
  io.idle := queue.io.idle
}

object EchoResponder {
  val timeToLive = 64 // as SegmentHeader's
}
