// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Multiplicative decrease, what a loss leaves: ssthresh = max(floor(flight (1 - b)), 2 SMSS).
  *
  * @param decrease b, the share that is taken away, 16 bits of fraction, on the first node
  */
class MultiplicativeDecrease(pipe: PolicyPipe, decrease: Payload[UInt]) extends Area {
  import MultiplicativeDecrease._
  import pipe._

  // The flight is late on the first node.
  private val share = new s0.Area {
    val left = insert(rest(decrease))
  }
  private val multiply = new s1.Area {
    val Seq(high, low) = products(event.flight, share.left).map(insert(_))
  }
  private val compare = new s2.Area {
    import multiply.{high, low}
    private val twoSegments = (event.segmentSize << 1).resize(32)
    val kept = insert(sum(high, low))
    val floorHolds = insert((high.resize(34) + (low >> 16) - twoSegments).msb)
  }
  private val bound = new s3.Area {
    val ssthresh = Window.ofBytes(Mux[UInt](compare.floorHolds, (event.segmentSize << 1).resize(32), compare.kept))
  }
  /** floor(flight (1 - b)), from the third node on. */
  val kept: Payload[UInt] = compare.kept
  /** Bytes with 16 fraction bits, on the last node. */
  val ssthresh: UInt = bound.ssthresh
}

object MultiplicativeDecrease {
  /** floor(amount (1 - share)) on the node `join`. The amount, at most 32 bits, and the share, 16 bits of fraction, are
    * on the node before, `multiply`.
    */
  def remainder(multiply: Node, join: Node, amount: Payload[UInt], share: UInt): Payload[UInt] = {
    val parts = new multiply.Area {
      val Seq(high, low) = products(amount.resize(32), rest(share)).map(insert(_))
    }
    new join.Area {
      val kept = insert(sum(parts.high, parts.low))
    }.kept
  }

  private def rest(share: UInt): UInt = U(1 << 16, 17 bits) - share
  // Products of 17 bits at most, what a DSP block of an ECP5 takes.
  private def products(amount: UInt, rest: UInt): Seq[UInt] =
    Seq(amount(31 downto 16) * rest, amount(15 downto 0) * rest)
  private def sum(high: UInt, low: UInt): UInt = (high + (low >> 16)).resize(32)
}
