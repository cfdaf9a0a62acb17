// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.lib.Tally
import spinal.core._

/** Why a received frame went no further, one field for each cause: as Bool it happened, as UInt how often. A frame is counted once, by the first
  * cause in this order.
  */
case class ReceiveDrops[T <: Data](dataType: HardType[T]) extends Bundle {
  // Any frame.
  val badFrame = dataType() // the MAC found it damaged
  val oversize = dataType()
  val bypassOverflow = dataType()
  val controlOverflow = dataType() // ARP or ICMP; a frame of both may be counted twice
  // Ours. Lengths first, without which no sum means anything; then IP, of which a fragment or a source route has TCP's
  // checksum wrong; then TCP; and last what a packet that is right in itself must not say.
  val ipVersion = dataType()
  val ipHeaderLength = dataType() // below 5 words
  val ipLength = dataType() // no space for an IP and a TCP header
  val truncated = dataType() // the frame ends before the packet
  val ipChecksum = dataType()
  val fragment = dataType()
  val sourceRoute = dataType()
  val tcpHeaderLength = dataType() // below 5 words, or beyond the packet
  val tcpChecksum = dataType()
  val options = dataType() // an IP or TCP option of length 0 or 1, or past its header
  val invalidSource = dataType()
  val land = dataType() // from our own address and port to itself
  val portZero = dataType()
  val flags = dataType() // SYN with FIN or RST
  val noSlot = dataType() // every payload slot is held

  def causes: Seq[T] = elements.map(_._2.asInstanceOf[T]).toSeq
}

object ReceiveDrops {
  def counters(bits: Int) = ReceiveDrops(UInt(bits bits))

  /** Each a clock late, modulo 2^bits. */
  def count(happened: ReceiveDrops[Bool], bits: Int): ReceiveDrops[UInt] = {
    val counts = counters(bits)
    for ((count, now) <- counts.causes.zip(happened.causes)) count := Tally(now, bits)
    counts
  }
}
