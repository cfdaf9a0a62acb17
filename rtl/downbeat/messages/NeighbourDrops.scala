// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.lib.Tally
import spinal.core._

/** Frames that the neighbour module dropped, and events that it noticed, by cause. */
case class NeighbourDrops[T <: Data](dataType: HardType[T]) extends Bundle {
  /** ARP packets that are not IPv4 on Ethernet, are too short, or have no sender address. */
  val arpMalformed = dataType()
  /** Another station claims our address; nothing was dropped. */
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

/** Why an ICMP message went no further, one field for each cause, in this order. */
case class IcmpDrops[T <: Data](dataType: HardType[T]) extends Bundle {
  /** Not IPv4; the IP packet is longer than the frame, or too short for what it should carry. */
  val length = dataType()
  val ipChecksum, checksum = dataType()
  /** "This" network, loopback, multicast and above; our own address or MAC; a MAC that is no host's. */
  val source = dataType()
  /** An error about no TCP segment of ours, or one that cannot be true: a packet that fits was too big. */
  val irrelevant = dataType()

  def causes: Seq[T] = elements.map(_._2.asInstanceOf[T]).toSeq
}
