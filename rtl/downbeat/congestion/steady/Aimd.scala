// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** AIMD(a, b) (Kannan, thesis, 2.1.2; Yang and Lam 2000): a segments more for each window that is acknowledged, a loss removes the share b.
  * Reno is (1, 0.5), bit for bit.
  *
  * Argument: a in bits 23..0, 16 of them fraction bits; b in bits 39..24, all fraction bits. All zeros is (1, 0.5).
  *
  * On an ACK of N new bytes while cwnd >= ssthresh: credit += a N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once for an event, so a
  * window grows by a segment for an ACK at most. A credit that would pass 2^32 bytes stays just below.
  * On a loss: ssthresh = max(floor(flight (1 - b)), 2 SMSS) and credit = 0.
  */
object Aimd extends SteadyPolicy {
  val name = "aimd"
  private val increaseBits = 24
  private val decreaseBits = 16
  private val creditBits = 48
  override val argumentBits: Int = increaseBits + decreaseBits
  /** The argument, and the credit: bytes with 16 fraction bits. */
  val stateBits: Int = argumentBits + creditBits
  private val renoArgument = (BigInt(1) << 15 << increaseBits) + (BigInt(1) << 16)

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(multiply, join, compare, answer) = pipe.nodes
    def argument(node: Node): Bits = node(pipe.word)(argumentBits - 1 downto 0)
    def credit(node: Node): UInt = node(pipe.word)(argumentBits, creditBits bits).asUInt

    // Products in halves of 16 bits, what a DSP block of an ECP5 takes.
    val event = multiply(pipe.event)
    val increase = argument(multiply)(increaseBits - 1 downto 0).asUInt
    val decrease = argument(multiply)(increaseBits, decreaseBits bits).asUInt
    val earnedHigh = multiply.insert(event.ackedBytes(31 downto 16) * increase)
    val earnedLow = multiply.insert(event.ackedBytes(15 downto 0) * increase)
    val removedHigh = multiply.insert(event.flight(31 downto 16) * decrease)
    val removedLow = multiply.insert(event.flight(15 downto 0) * decrease)

    val earned = join.insert((join(earnedHigh) << 16) + join(earnedLow).resize(56))
    // What is removed is rounded up, so that what is left is rounded down.
    val roundedUp = join(removedLow)(31 downto 16) +^ U(join(removedLow)(15 downto 0).orR)
    val kept = join.insert(join(pipe.event).flight - join(removedHigh) - roundedUp.resize(32))

    // cwnd is a whole number of bytes in the comparison, as Reno's.
    val whole = (compare(pipe.window).cwnd(47 downto 16) @@ U(0, 16 bits)).resize(58)
    val total = compare.insert(credit(compare) +^ compare(earned).resize(57))
    val remaining = compare.insert((credit(compare).resize(58) + compare(earned).resize(58) - whole).asSInt)
    val grown = compare.insert(compare(pipe.window).cwnd + Window.ofBytes(compare(pipe.event).segmentSize))
    val twoSegments = (compare(pipe.event).segmentSize << 1).resize(32)
    val threshold = compare.insert((compare(kept) < twoSegments) ? twoSegments | compare(kept))
    val kind = compare(pipe.event).kind
    val opens = compare.insert(kind === CongestionEventKind.established)
    val grows = compare.insert(kind === CongestionEventKind.acknowledged && !compare(pipe.event).startingUp)
    val loses = compare.insert(kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout)
    val untold = compare.insert(!argument(compare).orR)

    val due = !answer(remaining).msb
    val overflows = answer(remaining)(56 downto creditBits).orR
    val left = overflows ? U((BigInt(1) << creditBits) - 1, creditBits bits) | answer(remaining).asUInt.resize(creditBits)

    val result = Payload(PolicyAnswer(stateBits))
    answer(result).window := answer(pipe.window)
    answer(result).word := answer(pipe.word)
    when(answer(opens)) {
      answer(result).word := B(0, creditBits bits) ## (answer(untold) ? B(renoArgument, argumentBits bits) | argument(answer))
    }
    when(answer(grows)) {
      when(due)(answer(result).window.cwnd := answer(grown))
      answer(result).word := (due ? left | answer(total).resize(creditBits)) ## argument(answer)
    }
    when(answer(loses)) {
      answer(result).window.ssthresh := Window.ofBytes(answer(threshold))
      answer(result).word := B(0, creditBits bits) ## argument(answer)
    }
    result
  }
}
