// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The result of a loss in CUBIC (RFC 9438 4.6, 4.7): ssthresh = max(0.7 flight, 2 SMSS), W_max = cwnd, or 0.85 cwnd if
  * cwnd < W_max (fast convergence). 0.3 and 0.15 are rounded to 16 bits.
  *
  * @param cwndBytes from the first node on
  * @param belowMax  cwnd < W_max, from the second node on
  */
class CubicDecrease(pipe: PolicyPipe, cwndBytes: Payload[UInt], belowMax: Payload[Bool]) extends Area {
  import pipe._
  private val lost = 19661 // 0.3, 16 fraction bits
  private val converging = 9831 // 0.15

  private val share = new s0.Area {
    val lost = insert(U(CubicDecrease.this.lost, 16 bits))
  }
  private val decrease = new MultiplicativeDecrease(pipe, share.lost)
  private val converged = MultiplicativeDecrease.remainder(s1, s2, cwndBytes, U(converging, 16 bits))
  private val choose = new s3.Area {
    val wMax = Mux[UInt](belowMax, converged.resize(30), cwndBytes)
  }
  /** Bytes with 16 fraction bits, on the last node. */
  val ssthresh: UInt = decrease.ssthresh
  /** Bytes, on the last node. */
  val wMax: UInt = choose.wMax
}
