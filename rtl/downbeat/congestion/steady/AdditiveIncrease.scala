// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** A policy state with a credit in it. */
trait CreditState { this: Bundle =>
  /** Bytes with 16 fraction bits. */
  def credit: UInt
}

/** Additive increase for the policies of the family AIMD(a, b): a segments more for each acknowledged window, without a
  * division.
  *
  * On an ACK of N new bytes: credit += a N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS. An event adds one segment
  * at most. A credit that would pass 2^32 bytes stays just below.
  *
  * @param increase a, with 16 fraction bits, on the first node
  */
class AdditiveIncrease[S <: Bundle with CreditState](
    pipe: PolicyPipe, increase: Payload[UInt], before: Payload[S]) extends Area {
  import AdditiveIncrease.creditBits
  import pipe._
  private val bits = 32 + widthOf(increase)

  // Products of 17 bits at most, what a DSP block of an ECP5 takes.
  private val multiply = new s0.Area {
    private val (ackedHigh, ackedLow) = (event.ackedBytes(31 downto 16), event.ackedBytes(15 downto 0))
    private val (increaseHigh, increaseLow) = (increase >> 16, increase(15 downto 0))
    val highs = insert(ackedHigh * increaseHigh)
    val lows = insert(ackedLow * increaseLow)
    val middles = Seq(insert(ackedHigh * increaseLow), insert(ackedLow * increaseHigh))
  }

  private val join = new s1.Area {
    private val middle = multiply.middles.map(apply(_).resize(33)).reduce(_ + _) << 16
    val earned = insert((multiply.highs @@ multiply.lows).resize(bits) + middle.resize(bits))
  }

  // cwnd is a whole number of bytes in the comparison, as Reno's.
  private val compare = new s2.Area {
    private val wide = (bits max creditBits) + 2
    private val whole = (window.cwnd(47 downto 16) @@ U(0, 16 bits)).resize(wide)
    val total = insert(before.credit.resize(wide - 1) + join.earned.resize(wide - 1))
    val remaining = insert((before.credit.resize(wide) + join.earned.resize(wide) - whole).asSInt)
    val grown = insert(window.cwnd + Window.ofBytes(event.segmentSize))
  }

  private val add = new s3.Area {
    private val due = !compare.remaining.msb
    private val overflows = compare.remaining(compare.remaining.high - 1 downto creditBits).orR
    private val left =
      overflows ? U((BigInt(1) << creditBits) - 1, creditBits bits) | compare.remaining.asUInt.resize(creditBits)
    val cwnd = Mux[UInt](due, compare.grown, window.cwnd)
    val credit = Mux[UInt](due, left, compare.total.resize(creditBits))
  }
  /** After such an ACK, on the last node. */
  val cwndAfter: UInt = add.cwnd
  val creditAfter: UInt = add.credit
}

object AdditiveIncrease {
  val creditBits = 48
}
