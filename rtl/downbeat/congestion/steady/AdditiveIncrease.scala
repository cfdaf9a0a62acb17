// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** a segments more for each window that is acknowledged, without a division, for the policies of the family AIMD(a, b).
  *
  * On an ACK of N new bytes: credit += a N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once for an event, so a window grows by a
  * segment for an ACK at most. A credit that would pass 2^32 bytes stays just below.
  *
  * @param increase a, 16 of its bits fraction, on the first node
  * @param credit   what is kept of it: bytes with 16 fraction bits, on a node
  */
class AdditiveIncrease(pipe: PolicyPipe, increase: UInt, credit: Node => UInt) extends Area {
  import AdditiveIncrease.creditBits
  private val Seq(multiply, join, compare, answer) = pipe.nodes
  private val bits = 32 + increase.getWidth

  // Products of 17 bits at most, what a DSP block of an ECP5 takes.
  private def earns(acked: UInt, part: UInt): Payload[UInt] = multiply.insert(acked * part)
  private val event = multiply(pipe.event)
  private val highPart = increase(increase.high downto 16)
  private val highs = earns(event.ackedBytes(31 downto 16), highPart)
  private val lows = earns(event.ackedBytes(15 downto 0), increase(15 downto 0))
  private val middles = (earns(event.ackedBytes(31 downto 16), increase(15 downto 0)), earns(event.ackedBytes(15 downto 0), highPart))
  private val middle = (join(middles._1).resize(33) + join(middles._2).resize(33)) << 16
  private val earned = join.insert((join(highs) @@ join(lows)).resize(bits) + middle.resize(bits))

  // cwnd is a whole number of bytes in the comparison, as Reno's.
  private val wide = (bits max creditBits) + 2
  private val whole = (compare(pipe.window).cwnd(47 downto 16) @@ U(0, 16 bits)).resize(wide)
  private val total = compare.insert(credit(compare).resize(wide - 1) + compare(earned).resize(wide - 1))
  private val remaining = compare.insert((credit(compare).resize(wide) + compare(earned).resize(wide) - whole).asSInt)
  private val grown = compare.insert(compare(pipe.window).cwnd + Window.ofBytes(compare(pipe.event).segmentSize))

  private val due = !answer(remaining).msb
  private val overflows = answer(remaining)(wide - 2 downto creditBits).orR
  private val left = overflows ? U((BigInt(1) << creditBits) - 1, creditBits bits) | answer(remaining).asUInt.resize(creditBits)

  /** Both as they are after such an ACK, on the last node. */
  val cwnd: UInt = due ? answer(grown) | answer(pipe.window).cwnd
  val creditAfter: UInt = due ? left | answer(total).resize(creditBits)
}

object AdditiveIncrease {
  val creditBits = 48
}
