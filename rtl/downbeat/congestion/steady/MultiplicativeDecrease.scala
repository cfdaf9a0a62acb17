// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** What a loss leaves: ssthresh = max(floor(flight (1 - b)), 2 SMSS).
  *
  * @param decrease b, the share that is taken away, 16 bits of fraction, on the first node
  */
class MultiplicativeDecrease(pipe: PolicyPipe, decrease: UInt) extends Area {
  private val Seq(share, multiply, compare, answer) = pipe.nodes
  // The flight is late on the first node.
  private val rest = share.insert(MultiplicativeDecrease.rest(decrease))
  private val (high, low) = MultiplicativeDecrease.products(multiply, multiply(pipe.event).flight, multiply(rest))
  /** floor(flight (1 - b)), from the third node on. */
  val kept: Payload[UInt] = compare.insert(MultiplicativeDecrease.sum(compare(high), compare(low)))
  private val twoSegments = (compare(pipe.event).segmentSize << 1).resize(32)
  private val floorHolds = compare.insert((compare(high).resize(34) + (compare(low) >> 16) - twoSegments).msb)

  /** Bytes with 16 fraction bits, on the last node. */
  val ssthresh: UInt = Window.ofBytes(answer(floorHolds) ? (answer(pipe.event).segmentSize << 1).resize(32) | answer(kept))
}

object MultiplicativeDecrease {
  /** floor(amount (1 - share)), ready after the node `join`: amount, 32 bits, and share, 16 bits of fraction, are on the node before it. */
  def remainder(multiply: Node, join: Node, amount: UInt, share: UInt): Payload[UInt] = {
    val (high, low) = products(multiply, amount, rest(share))
    join.insert(sum(join(high), join(low)))
  }

  private def rest(share: UInt): UInt = U(1 << 16, 17 bits) - share
  // Products of 17 bits at most, what a DSP block of an ECP5 takes.
  private def products(node: Node, amount: UInt, rest: UInt): (Payload[UInt], Payload[UInt]) =
    (node.insert(amount(31 downto 16) * rest), node.insert(amount(15 downto 0) * rest))
  private def sum(high: UInt, low: UInt): UInt = (high + (low >> 16)).resize(32)
}
