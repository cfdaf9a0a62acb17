// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** A request to a [[Divider]]. */
case class Division(numeratorBits: Int, denominatorBits: Int) extends Bundle {
  val numerator = UInt(numeratorBits bits)
  val denominator = UInt(denominatorBits bits)
}

/** Divides in each clock, or one at a time (`single`): min(floor(numerator / denominator), 2^quotientBits - 1). So the response is all ones
  * for a quotient that does not fit and for a division by zero. It comes `latency` clocks after its request, in order.
  *
  * Non-restoring division, a bit of the quotient in each clock (Parhami, Computer Arithmetic, 13.4). The partial remainder r lies in [-d, d). A
  * step makes 2 r + (the numerator's next bit) - d, or + d if r is negative. The quotient's bit is 1 if that is not negative. So the choice comes
  * from a register, and a stage has one carry chain of denominatorBits between registers. Each step has a stage of its own; a `single` divider
  * makes all steps in one stage. A quotient with fewer bits than the numerator saves steps. Numerator bits that are always zero cost nothing.
  *
  * Where divisions may take different times, SpinalHDL's `spinal.lib.math.UnsignedDivider` is smaller.
  *
  * @param single the next request comes after the response
  */
case class Divider(numeratorBits: Int, denominatorBits: Int, quotientBits: Int, single: Boolean = false) extends Component {
  require(quotientBits >= 1 && quotientBits <= numeratorBits, s"quotientBits = $quotientBits: use 1 to numeratorBits = $numeratorBits")

  val io = new Bundle {
    val request = slave(Flow(Division(numeratorBits, denominatorBits)))
    val response = master(Flow(UInt(quotientBits bits)))
  }
  noIoPrefix()

  private val request = io.request.m2sPipe
  // The bits above the quotient's are a remainder already. The quotient fits if they are below the denominator.
  private val above = request.numerator >> quotientBits
  private val fits = above.resize(numeratorBits max denominatorBits) < request.denominator.resize(numeratorBits max denominatorBits)

  private val first = Divider.Stage(denominatorBits, quotientBits)
  first.remainder := above.resize(denominatorBits + 1)
  first.denominator := request.denominator
  first.bits := request.numerator(quotientBits - 1 downto 0)
  first.overflow := !fits
  /** There was a request so many clocks ago. */
  private val requested = History(request.valid, quotientBits + 2, init = False)
  private val last = (0 until (if (single) 1 else quotientBits)).foldLeft(first)((before, step) => held(before, requested(step)))

  io.response.payload := RegNext(last.overflow ? U(quotientBits bits, default -> True) | last.bits)
  io.response.valid := requested(quotientBits + 1)

  /** A stage takes what the stage before it has when it `arrives`, a step further. Then it makes a step in each clock. */
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
