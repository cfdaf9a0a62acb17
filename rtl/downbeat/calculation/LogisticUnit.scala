// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The logistic window (Iguchi, thesis, Eq. 10; eps = 1.95 and gamma = 0.9, his 5.1): what becomes of a window w in a time t, if the bottleneck
  * has K bytes per second, A of them are available and the round trip without queues is tau. A new window in each clock, or one at a time (`single`).
  *
  * The target is w* = {K - gamma (K - A)} tau = (K + 9 A) tau / 10, the exponent x = eps t {1 - gamma (1 - A / K)} = 1.95 t (K + 9 A) / 10 K, and Eq. 10
  * {{{
  *   w' = w e^x w* / (w (e^x - 1) + w*) = b s / (s + (b - s) f)
  * }}}
  * with b and s the larger and the smaller of w and w*, and f = e^-x if the window grows, 1 - e^-x if it shrinks: nothing overflows, and no
  * small number comes out of a difference of large ones. Rounded to the nearest 2^-16 byte; the relative error is below 2^-17^ (`make bench NAME=logistic`),
  * where it is not the rounding. A window that does not fit is all ones.
  *
  * In between, numbers have a mantissa of 36 bits, two DSP blocks wide, and an exponent (`Scaled`). Nodes are numbered by clocks: rates and the
  * division K + 9 A by K come first, then e^-x and, beside it, w*; then the products and the second division.
  *
  * @param single the next request comes when the response to the last has come: so a value needs one register, and a division one stage
  */
case class LogisticUnit(single: Boolean = false) extends Component {
  import LogisticUnit._

  val io = new Bundle {
    val request = slave(Flow(LogisticRequest()))
    /** Bytes, 16 fraction bits. */
    val response = master(Flow(UInt(48 bits)))
  }
  noIoPrefix()

  private val carried = new Carried(rounded + 2, single)
  import carried.{far, nodes}
  private val asked = nodes.head
  private val request = io.request.m2sPipe
  asked.valid := request.valid
  private val CAPACITY = asked.insert(request.capacity)
  private val AVAILABLE = asked.insert(request.available)

  /** The request's field some clocks later. */
  private def late(field: UInt, node: Int): UInt = far(field, 0, node)
  /** The product of two payloads of a node, on that node plus Product.latency. */
  private def product(node: Int, left: UInt, right: UInt): Payload[UInt] = nodes(node + Product.latency).insert(Product(left, right))

  // ---- K and K + 9 A, scaled so that K's top bit is set

  private val EXCEEDS = asked.insert(asked(CAPACITY) < asked(AVAILABLE))
  private val BOUNDED = nodes(1).insert(nodes(1)(EXCEEDS) ? nodes(1)(CAPACITY) | nodes(1)(AVAILABLE))
  private val NINEFOLD = nodes(2).insert((nodes(2)(BOUNDED) << 3).resize(48) + nodes(2)(BOUNDED))
  private val SUM = nodes(3).insert(nodes(3)(NINEFOLD) + nodes(3)(CAPACITY))
  private val (capacity, rate, shift) = Normalized(nodes(summed)(CAPACITY), nodes(summed)(SUM))
  private val RATE = nodes(scaled).insert(rate >> 12)
  private val SHIFT = nodes(scaled).insert(shift)

  // ---- y = x log2(e) = t per ns

  private val divider = Divider(60, 32, 28, single)
  divider.io.request.valid := nodes(scaled).valid
  divider.io.request.numerator := nodes(scaled)(RATE) @@ U(0, 24 bits)
  divider.io.request.denominator := capacity >> 12
  private val SHARE = nodes(shared).insert(divider.io.response.payload)
  private val PACE = product(shared, nodes(shared)(SHARE), U(growthQuarters, 18 bits))
  private val multiplied = nodes(shared + Product.latency)
  private val PER_NS = multiplied.insert((((multiplied(PACE) @@ U(0, 2 bits)) + multiplied(SHARE)) >> 11).resize(36))
  private val Y = product(paced, late(request.elapsed, paced), nodes(paced)(PER_NS))

  // ---- w* = (K + 9 A) tau / 10, and w

  private val (time, timeZeros) = Normalized(late(request.roundTrip, aimed))
  private val TIME = nodes(timed).insert(time)
  private val aim = far(nodes(scaled)(RATE) @@ nodes(scaled)(SHIFT), scaled, timed)
  private val DISTANCE = product(timed, nodes(timed)(TIME), aim >> 6)
  private val EXPONENT = nodes(timed).insert(U(one + 9, 7 bits) - aim(5 downto 0) - timeZeros)
  private val distance = nodes(timed + Product.latency)(DISTANCE) >> 36
  private val TARGET = product(timed + Product.latency, distance, U(perSecond, 18 bits))
  private val target = nodes(timed + 2 * Product.latency)(TARGET)
  // All its zeros are in the first eight bits.
  private val (_, star, starZeros) = Normalized(target.takeHigh(8).asUInt, target)
  private val (own, ownZeros) = Normalized(late(request.window, known - Normalized.latency(48)))
  private val STAR = nodes(known).insert(Scaled(nodes(known)(EXPONENT) - starZeros, star >> 18))
  private val OWN = nodes(known).insert(Scaled(U(one, 7 bits) - ownZeros, own >> 12))
  private val DECAYS = nodes(known + 1).insert(nodes(known + 1)(STAR).asUnsigned < nodes(known + 1)(OWN).asUnsigned)

  // ---- f

  private val exponential = Exponential(single)
  exponential.io.request.valid := nodes(judged).valid
  exponential.io.request.y := nodes(judged)(Y) >> 10
  exponential.io.request.decay := nodes(judged)(DECAYS)
  private val FACTOR = nodes(factored).insert(exponential.io.response.payload)

  // ---- b s, b - s

  private val BIG = nodes(judged).insert(nodes(judged)(DECAYS) ? nodes(judged)(OWN) | nodes(judged)(STAR))
  private val SMALL = nodes(judged).insert(nodes(judged)(DECAYS) ? nodes(judged)(STAR) | nodes(judged)(OWN))
  private val sorted = nodes(judged + 1)
  private val NUMERATOR = product(judged + 1, sorted(BIG).mantissa, sorted(SMALL).mantissa)
  private val RATIO = sorted.insert(sorted(BIG).exponent - sorted(SMALL).exponent)
  private val apart = nodes(judged + 2)
  private val aligned = ShiftedRight(apart(SMALL).mantissa, bounded(apart(RATIO)))
  private val compared = nodes(judged + 2 + ShiftedRight.latency)
  private val terms = Terms()
  terms.difference := compared(BIG).mantissa - aligned
  terms.small := compared(SMALL).mantissa
  terms.ratio := compared(RATIO)
  terms.bigExponent := compared(BIG).exponent
  terms.numerator := compared(NUMERATOR).takeHigh(38).asUInt
  private val TERMS = nodes(factored).insert(far(terms, judged + 2 + ShiftedRight.latency, factored))

  // ---- s + (b - s) f

  private val held = nodes(factored)
  private val PART = product(factored, held(TERMS).difference, held(FACTOR).mantissa)
  private val ABOVE = held.insert((held(TERMS).ratio.resize(8) - held(FACTOR).exponent).asSInt)
  private val RAISED = nodes(factored + 1).insert(nodes(factored + 1)(ABOVE) > 0)
  private val SPAN = nodes(factored + 1).insert(nodes(factored + 1)(ABOVE).abs.resize(7))
  private val parted = nodes(factored + Product.latency)
  private val part = parted(PART) >> 36
  private val SHIFTING = parted.insert(parted(RAISED) ? parted(TERMS).small | part)
  private val STANDING = parted.insert(parted(RAISED) ? part | parted(TERMS).small)
  private val shifting = nodes(factored + Product.latency + 1)
  private val shifted = ShiftedRight(shifting(SHIFTING), bounded(shifting(SPAN)))
  private val DENOMINATOR = nodes(divided - 1).insert(shifted +^ nodes(divided - 1)(STANDING))

  // ---- the quotient, as bytes with 16 fraction bits

  private val ready = nodes(divided)
  private val quotient = Divider(72, 37, 40, single)
  quotient.io.request.valid := ready.valid
  quotient.io.request.numerator := ready(TERMS).numerator @@ U(0, 34 bits)
  quotient.io.request.denominator := ready(DENOMINATOR)
  private val raised = nodes(divided - 1)
  private val DOWN = raised.insert(
    (U(largest, 9 bits) + (raised(RAISED) ? raised(SPAN) | U(0, 7 bits)) - raised(TERMS).bigExponent).asSInt)
  private val end = far(ready(DOWN).msb ## bounded(ready(DOWN).asUInt.resize(8)), divided, widened)
  private val doubled = ShiftedRight(quotient.io.response.payload @@ U(0, 16 bits), end(5 downto 0).asUInt)
  private val TOO_LARGE = nodes(widened).insert(end.msb)
  private val WINDOW = nodes(rounded).insert((doubled >> 1) + doubled(0).asUInt.resize(56))
  private val last = nodes.last
  io.response.valid := last.valid
  io.response.payload := (last(TOO_LARGE) || last(WINDOW)(55 downto 48).orR) ? U(48 bits, default -> True) | last(WINDOW).resize(48)
  carried.build()
}

object LogisticUnit {
  /** 1 / 10^10 with 51 fraction bits. */
  private val perSecond = 225180
  /** 1.95 log2(e) / 10^10 with 51 fraction bits is four times this and one. */
  private val growthQuarters = 158372
  /** The exponent of a window whose top bit is set, and the largest with which a quotient, 34 bits at least, may fit. */
  private val one = 64 + 12
  private val largest = 64 + 15

  // The nodes at which intermediate results are in registers.
  private val summed = 4
  private val scaled = summed + Normalized.latency(44)
  private val shared = scaled + Divider.latency(28)
  private val paced = shared + Product.latency + 1
  private val judged = paced + Product.latency
  private val known = judged - 2
  private val timed = known - Normalized.latency(8) - 2 * Product.latency
  private val aimed = timed - Normalized.latency(36)
  private val factored = judged + Exponential.latency
  private val divided = factored + Product.latency + 1 + ShiftedRight.latency + 1
  private val widened = divided + Divider.latency(40)
  private val rounded = widened + ShiftedRight.latency
  /** Clocks from a request to its response: the first is before node 0. */
  val latency: Int = rounded + 2

  /** mantissa x 2^exponent - 64^, of 2^-16^ bytes; the mantissa's top bit is set. */
  private case class Scaled() extends Bundle {
    val exponent = UInt(7 bits)
    val mantissa = UInt(36 bits)
    /** In the order of what it stands for. */
    def asUnsigned: UInt = exponent @@ mantissa
  }

  private object Scaled {
    def apply(exponent: UInt, mantissa: UInt): Scaled = {
      val scaled = Scaled()
      scaled.exponent := exponent
      scaled.mantissa := mantissa
      scaled
    }
  }

  /** What waits for the exponential: b - s, s, their ratio and b's exponent; b s without its lower 34 bits. */
  private case class Terms() extends Bundle {
    val difference, small = UInt(36 bits)
    val ratio, bigExponent = UInt(7 bits)
    val numerator = UInt(38 bits)
  }

  /** A distance that 6 bits hold; from 63 on nothing is left of 56 bits anyway. */
  private def bounded(distance: UInt): UInt =
    (distance >> ShiftedRight.distanceBits).orR ? U(63, 6 bits) | distance.resize(ShiftedRight.distanceBits)
}
