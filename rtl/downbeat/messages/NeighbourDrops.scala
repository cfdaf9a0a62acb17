// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.lib.Tally
import downbeat.neighbour.IcmpDrops
import spinal.core._

/** What was dropped of ARP and ICMP, and what was seen, by cause. */
case class NeighbourDrops[T <: Data](dataType: HardType[T]) extends Bundle {
  /** ARP packets that are none of IPv4 on Ethernet, cut short, or from nobody. */
  val arpMalformed = dataType()
  /** Somebody else said that our address is his; nothing was dropped. */
  val conflicts = dataType()
  /** Replies, and what was learnt, for which no place was free. */
  val replyOverflow, learntOverflow = dataType()
  val staticNoPlace = dataType() // static entries, likewise
  val icmp = IcmpDrops(dataType)
  val echoOverflow, icmpErrorOverflow = dataType()

  def causes: Seq[T] = flatten.map(_.asInstanceOf[T]).toSeq
}

object NeighbourDrops {
  def counters(bits: Int) = NeighbourDrops(UInt(bits bits))

  /** Each a clock late, modulo 2^bits. */
  def count(happened: NeighbourDrops[Bool], bits: Int): NeighbourDrops[UInt] = {
    val counts = counters(bits)
    for ((count, now) <- counts.causes.zip(happened.causes)) count := Tally(now, bits)
    counts
  }
}
