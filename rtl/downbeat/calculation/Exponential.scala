// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** y, and which of the two is asked for. */
case class ExponentialRequest() extends Bundle {
  /** Not negative, 54 fraction bits; for e^-x^ it is x log2(e). */
  val y = UInt(Exponential.integerBits + Exponential.fractionBits bits)
  /** 1 - 2^-y^ in place of 2^-y^. */
  val decay = Bool()
}

/** mantissa x 2^-36 - exponent^. The mantissa's top bit is set, or it is zero (and the exponent 63). */
case class Factor() extends Bundle {
  val mantissa = UInt(36 bits)
  val exponent = UInt(7 bits)
}

/** 2^-y^ or 1 - 2^-y^, a request a clock or one at a time (`single`), either with an error below 2^-34^, and below 2^-19^ of what it is down to 2^-53^. (A caller that
  * wants e^-x^ has a constant to multiply by before, which takes log2(e) in.)
  *
  * y = n + high / 2^9^ + middle / 2^18^ + low / 2^54^. Two tables have a = 1 - 2^-high^ and b = 1 - 2^-middle^, and c = ln 2 low. Then
  * {{{
  *   1 - 2^-(y - n)^ = 1 - (1 - a)(1 - b)(1 - c) = a + d - a d,  d = b + c - b c
  * }}}
  * which adds up from its smallest part, so that it loses nothing where y is small; 2^-y^ is what it leaves of 1, shifted by n.
  */
case class Exponential(single: Boolean = false) extends Component {
  import Exponential._

  val io = new Bundle {
    val request = slave(Flow(ExponentialRequest()))
    val response = master(Flow(Factor()))
  }
  noIoPrefix()

  private val carried = new Carried(latency + 1, single)
  import carried.nodes
  private val first = nodes.head
  first.valid := io.request.valid
  private val QUESTION = first.insert(io.request.payload)
  private val fraction = first(QUESTION).y.resize(fractionBits)

  // ---- nodes 0 to 2: tables and ln 2 low; to node 3: what low adds

  private val read = nodes(1)
  private val high = read.insert(table(tableBits, highFraction).readSync(fraction.takeHigh(tableBits).asUInt))
  private val middle = read.insert(table(2 * tableBits, middleFraction).readSync(fraction(lowBits, tableBits bits)))
  private val low = first.insert(fraction(lowBits - 1 downto 0))
  private val multiplied = nodes(Product.latency)
  private val scaled = multiplied.insert(Product(first(low), U(ln2Quarters, 18 bits)))
  private val sum = nodes(Product.latency + 1)
  private val small = sum.insert(RegNext(((multiplied(scaled) @@ U(0, 2 bits)) + multiplied(low)) >> 20).resize(lowBits))

  // ---- b + c - b c, 54 fraction bits (it is below 2^-9)

  private val joined = nodes(Product.latency + 3)
  private val both = sum(middle).takeHigh(18).asUInt * sum(small).takeHigh(18).asUInt
  private val added = (sum(middle) << 9) + sum(small).resize(innerBits)
  private val inner = joined.insert(RegNext(RegNext(added) - (RegNext(both) >> 9).resize(innerBits)))

  // ---- a + d - a d

  private val crossed = nodes(joinedAt + Product.latency)
  private val product = crossed.insert(Product(joined(inner) >> 9, joined(high)))
  private val whole = joined.insert((joined(high) << 18) + joined(inner).resize(fractionBits))
  private val done = nodes(joinedAt + Product.latency + 1)
  private val decrease = done.insert(RegNext(crossed(whole) - (crossed(product) >> 27).resize(fractionBits)))

  // ---- what it leaves of 1, by n; and what that leaves of 1 again

  private val mantissa = ~done(decrease).takeHigh(36).asUInt
  private val integer = done(QUESTION).y >> fractionBits
  private val shifted = nodes(doneAt + ShiftedRight.latency)
  private val power = shifted.insert(ShiftedRight(mantissa @@ U(0, 18 bits), integer))
  private val alone = done.insert(integer === 0)
  private val decayed = shifted(alone) ? shifted(decrease) | ~shifted(power)
  private val unshifted = ~shifted(decrease).takeHigh(36).asUInt @@ U(0, 18 bits)
  private val chosen = nodes(doneAt + ShiftedRight.latency + 1)
  private val fixed = chosen.insert(RegNext(shifted(QUESTION).decay ? decayed | unshifted))
  private val (normal, zeros) = Normalized(chosen(fixed))

  io.response.valid := nodes.last.valid
  io.response.mantissa := normal.takeHigh(36).asUInt
  io.response.exponent := zeros +^ (nodes.last(QUESTION).decay ? U(0, integerBits bits) | nodes.last(QUESTION).y >> fractionBits)
  carried.build()
}

object Exponential {
  val integerBits = 6
  val fractionBits = 54
  private val tableBits = 9
  private val lowBits = fractionBits - 2 * tableBits
  private val highFraction = 36
  private val middleFraction = 45
  private val innerBits = 45
  /** ln 2 with 20 fraction bits is four times this and one. */
  private val ln2Quarters = 181704

  private val joinedAt = Product.latency + 3
  private val doneAt = joinedAt + Product.latency + 1
  /** Clocks from a request to its response. */
  val latency: Int = doneAt + ShiftedRight.latency + 1 + Normalized.latency(fractionBits)

  /** 1 - 2^-i / 2^step^^ for i from 0 on. */
  private def table(step: Int, fraction: Int): Mem[UInt] = {
    val entries = (0 until 1 << tableBits).map { index =>
      BigDecimal(-Math.expm1(-index.toDouble / (1 << step) * Math.log(2)) * Math.pow(2, fraction)).setScale(0, BigDecimal.RoundingMode.HALF_EVEN)
    }
    Mem(UInt(36 bits), entries.map(entry => U(entry.toBigInt, 36 bits)))
  }
}
