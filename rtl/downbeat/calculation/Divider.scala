// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** What a divider is asked. */
case class Division(numeratorBits: Int, denominatorBits: Int) extends Bundle {
  val numerator = UInt(numeratorBits bits)
  val denominator = UInt(denominatorBits bits)
}

/** A division in each clock, or one at a time (`single`): min(floor(numerator / denominator), 2^quotientBits - 1), so all ones for a quotient that
  * does not fit and for a division by zero. The response comes `latency` clocks after its request, in order.
  *
  * Non-restoring, a bit of the quotient in each clock: the partial remainder r lies in [-d, d), and a step makes 2 r + (the numerator's next
  * bit) - d, or + d if r is negative; the quotient's bit is 1 where that is not negative (Parhami, Computer Arithmetic, 13.4). So the choice
  * comes from a register and one carry chain of denominatorBits is all that a stage has between registers. There are as many stages as
  * divisions under way: each step has its own, or one makes them all. A quotient with fewer bits than the numerator saves steps; numerator
  * bits that are always zero cost nothing.
  *
  * Where the clocks need not be the same for each division, SpinalHDL's own `spinal.lib.math.UnsignedDivider` is the smaller one.
  *
  * @param single the next request comes when the response to the last has come
  */
case class Divider(numeratorBits: Int, denominatorBits: Int, quotientBits: Int, single: Boolean = false) extends Component {
  require(quotientBits >= 1 && quotientBits <= numeratorBits, s"quotientBits = $quotientBits: use 1 to numeratorBits = $numeratorBits")

  val io = new Bundle {
    val request = slave(Flow(Division(numeratorBits, denominatorBits)))
    val response = master(Flow(UInt(quotientBits bits)))
  }
  noIoPrefix()

  private val request = io.request.m2sPipe
  // What has no quotient bit is a remainder already; it fits if the quotient does.
  private val above = request.numerator >> quotientBits
  private val fits = above.resize(numeratorBits max denominatorBits) < request.denominator.resize(numeratorBits max denominatorBits)

  private val first = Divider.Stage(denominatorBits, quotientBits)
  first.remainder := above.resize(denominatorBits + 1)
  first.denominator := request.denominator
  first.bits := request.numerator(quotientBits - 1 downto 0)
  first.overflow := !fits
  // Whether there was a request so many clocks ago.
  private val asked = History(request.valid, quotientBits + 2, init = False)
  private val last = (0 until (if (single) 1 else quotientBits)).foldLeft(first)((before, step) => held(before, asked(step)))

  io.response.payload := RegNext(last.overflow ? U(quotientBits bits, default -> True) | last.bits)
  io.response.valid := asked(quotientBits + 1)

  /** A stage: takes what the one before it has when it `arrives`, a step further, and makes a step in each clock after that. */
  private def held(before: Divider.Stage, arrives: Bool): Divider.Stage = {
    val stage = Reg(Divider.Stage(denominatorBits, quotientBits))
    stage := (if (single) arrives ? before | stage else before).next
    stage
  }
}

object Divider {
  /** Clocks from a request to its response. */
  def latency(quotientBits: Int): Int = quotientBits + 2

  private case class Stage(denominatorBits: Int, quotientBits: Int) extends Bundle {
    val remainder = UInt(denominatorBits + 1 bits) // two's complement
    val denominator = UInt(denominatorBits bits)
    /** Numerator bits still to come, and behind them the quotient's so far. */
    val bits = UInt(quotientBits bits)
    val overflow = Bool()

    def next: Stage = {
      val subtracts = !remainder.msb
      val shifted = remainder(denominatorBits - 1 downto 0) @@ bits.msb
      val term = denominator.resize(denominatorBits + 1).asBits ^ B(denominatorBits + 1 bits, default -> subtracts)
      // One position more below makes the subtraction's carry in the same chain.
      val sum = (shifted @@ True) + (term.asUInt @@ subtracts)
      val after = Stage(denominatorBits, quotientBits)
      after.remainder := sum(denominatorBits + 1 downto 1)
      after.denominator := denominator
      after.bits := (bits @@ !after.remainder.msb).resize(quotientBits)
      after.overflow := overflow
      after
    }
  }
}
