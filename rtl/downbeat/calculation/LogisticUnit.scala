// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The logistic window (Iguchi, thesis, Eq. 10): what becomes of a window w in a
  * time t if the bottleneck has K bytes per second, A of them are available, and the round trip without queues is tau.
  * It computes a window in each clock, or one at a time (`single`).
  *
  * The target is w* = {K - gamma (K - A)} tau, and x = eps t {1 - gamma (1 - A / K)}. Eq. 10 is
  * {{{
  *   w' = w e^x w* / (w (e^x - 1) + w*) = b s / (s + (b - s) f)
  * }}}
  * with b and s the larger and the smaller of w and w*, and f = e^-x if the window grows, 1 - e^-x if it shrinks. So
  * nothing overflows, and no small number is a difference of large ones. The result is rounded to the nearest 2^-16
  * byte. Without the rounding its relative error is below 2^-16^, and below 2^-17^ with the usual eps and gamma
  * (`make bench NAME=logistic`). A window that does not fit is all ones.
  *
  * Between nodes numbers have a mantissa and an exponent ([[Scaled]]). [[LogisticSchedule]] numbers the nodes: first
  * the rates and the division of w* / tau by K, then e^-x and beside it w*, then the products and the second division.
  *
  * @param single the next request comes after the response, so that a value needs one register and a division one stage
  */
case class LogisticUnit(single: Boolean = false) extends Component {
  import LogisticUnit._
  private val schedule = new LogisticSchedule(single)
  import schedule._

  val io = new Bundle {
    val request = slave(Flow(LogisticRequest()))
    /** Bytes, 16 fraction bits. */
    val response = master(Flow(UInt(48 bits)))
  }
  noIoPrefix()

  private val carried = new Carried(rounded + 2, single)
  import carried.{far, nodes, product, shiftedRight}
  private val request = io.request.m2sPipe
  nodes.head.valid := request.valid
  private val rates = new LogisticRates(carried, schedule, single, request)
  private val target = new LogisticTarget(carried, schedule, request, rates)

  // ---- f, and b and s

  private val nJudged = nodes(judged)
  private val judge = new nJudged.Area {
    val exponential = Exponential(single)
    exponential.io.request.valid := valid
    exponential.io.request.y := rates.y
    exponential.io.request.decay := target.decays
    val big = insert(Mux[Scaled](target.decays, target.own, target.star))
    val small = insert(Mux[Scaled](target.decays, target.star, target.own))
  }

  // ---- b s, b - s

  private val nSorted = nodes(sorted)
  private val sort = new nSorted.Area {
    val numerator = product(sorted, judge.big.mantissa, judge.small.mantissa)
    val ratio = insert(judge.big.exponent - judge.small.exponent)
  }
  private val nAligned = nodes(aligned)
  private val align = new nAligned.Area {
    val small = shiftedRight(aligned, judge.small.mantissa, bounded(sort.ratio))
  }
  private val nSubtracted = nodes(compared)
  private val subtract = new nSubtracted.Area {
    val terms = LogisticTerms()
    terms.difference := judge.big.mantissa - align.small
    terms.small := judge.small.mantissa
    terms.ratio := sort.ratio
    terms.bigExponent := judge.big.exponent
    terms.numerator := sort.numerator.takeHigh(38).asUInt
  }

  // ---- s + (b - s) f

  private val nFactored = nodes(factored)
  private val factor = new nFactored.Area {
    val terms = insert(far(subtract.terms, compared, factored))
    val f = insert(judge.exponential.io.response.payload)
    val part = product(factored, terms.difference, f.mantissa)
    val above = insert((terms.ratio.resize(8) - f.exponent).asSInt)
  }
  import factor.terms
  private val nSpanned = nodes(factored + 1)
  private val span = new nSpanned.Area {
    val raised = insert(factor.above > 0)
    val distance = insert(apply(factor.above).abs.resize(7))
  }
  private val nParted = nodes(parted)
  private val part = new nParted.Area {
    private val mantissa = factor.part >> 36
    val shifting = insert(span.raised ? terms.small | mantissa)
    val standing = insert(span.raised ? mantissa | terms.small)
  }
  private val nShifted = nodes(shifted)
  private val shift = new nShifted.Area {
    val smaller = shiftedRight(shifted, part.shifting, bounded(span.distance))
  }
  private val nAdded = nodes(added)
  private val add = new nAdded.Area {
    val denominator = insert(shift.smaller +^ part.standing)
    val down =
      insert((U(largest, 9 bits) + Mux[UInt](span.raised, span.distance, U(0, 7 bits)) - terms.bigExponent).asSInt)
  }

  // ---- the quotient, as bytes with 16 fraction bits

  private val nDivided = nodes(divided)
  private val divide = new nDivided.Area {
    val quotient = Divider(72, 37, 40, single)
    quotient.io.request.valid := valid
    quotient.io.request.numerator := terms.numerator @@ U(0, 34 bits)
    quotient.io.request.denominator := add.denominator
    val end = far(add.down.msb ## bounded(add.down.asUInt.resize(8)), divided, widened)
  }
  private val doubled =
    shiftedRight(widened, divide.quotient.io.response.payload @@ U(0, 16 bits), divide.end(5 downto 0).asUInt)
  private val nWidened = nodes(widened)
  private val widen = new nWidened.Area {
    val tooLarge = insert(divide.end.msb)
  }
  private val nRounded = nodes(rounded)
  private val round = new nRounded.Area {
    val window = insert((doubled >> 1) + doubled(0).asUInt.resize(56))
  }
  private val nLast = nodes.last
  new nLast.Area {
    io.response.valid := valid
    io.response.payload := (widen.tooLarge || round.window(55 downto 48).orR) ? U(48 bits,
      default -> True) | round.window.resize(48)
  }
  carried.build()
}

object LogisticUnit {
  /** 640 gamma; beyond this the target's leading zeros are too many. */
  val largestGamma = 620
  /** The largest exponent with which a quotient, 34 bits at least, may fit. */
  private val largest = 64 + 15

  /** Clocks from a request to its response: the first is before node 0. */
  def latency(single: Boolean): Int = new LogisticSchedule(single).rounded + 2

  /** A distance that 6 bits hold; from 63 on nothing is left of 56 bits. */
  private def bounded(distance: UInt): UInt =
    (distance >> ShiftedRight.distanceBits).orR ? U(63, 6 bits) | distance.resize(ShiftedRight.distanceBits)
}
