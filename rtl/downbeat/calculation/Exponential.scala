// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** y, and which of the two functions. */
case class ExponentialRequest() extends Bundle {
  /** Not negative, 54 fraction bits; for e^-x^ it is x log2(e). */
  val y = UInt(Exponential.integerBits + Exponential.fractionBits bits)
  /** 1 - 2^-y^ instead of 2^-y^. */
  val decay = Bool()
}

/** mantissa x 2^-36 - exponent^. The mantissa's top bit is set, or it is zero (and the exponent 63). */
case class Factor() extends Bundle {
  val mantissa = UInt(36 bits)
  val exponent = UInt(7 bits)
}

/** 2^-y^ or 1 - 2^-y^, a request in each clock or one at a time (`single`). The error of either is below 2^-34^, and
  * below 2^-19^ of the value down to 2^-53^. A caller that wants e^-x^ multiplies by a constant first, which takes
  * log2(e) in.
  *
  * y = n + high / 2^9^ + middle / 2^18^ + low / 2^54^. Two tables have a = 1 - 2^-high^ and b = 1 - 2^-middle^, and
  * c = ln 2 low. Then
  * {{{
  *   1 - 2^-(y - n)^ = 1 - (1 - a)(1 - b)(1 - c) = a + d - a d,  d = b + c - b c
  * }}}
  * which adds up from its smallest part, so that nothing is lost where y is small. 2^-y^ is what that leaves of 1,
  * shifted by n.
  */
case class Exponential(single: Boolean = false) extends Component {
  import Exponential._

  val io = new Bundle {
    val request = slave(Flow(ExponentialRequest()))
    val response = master(Flow(Factor()))
  }
  noIoPrefix()

  private val carried = new Carried(latency(single) + 1, single)
  import carried.nodes
  private val Seq(n0, n1) = nodes.take(2)
  n0.valid := io.request.valid

  // ---- tables and ln 2 low, and what low adds

  private val take = new n0.Area {
    val request = insert(io.request.payload)
    private val fraction = request.y.resize(fractionBits)
    val low = insert(fraction(lowBits - 1 downto 0))
    val lowProduct = Product(low, U(ln2Quarters, 18 bits))
    val highIndex = fraction.takeHigh(tableBits).asUInt
    val middleIndex = fraction(lowBits, tableBits bits)
  }
  import take.request
  private val read = new n1.Area {
    val high = insert(table(tableBits, highFraction).readSync(take.highIndex))
    val middle = insert(table(2 * tableBits, middleFraction).readSync(take.middleIndex))
  }
  private val nMultiplied = nodes(Product.latency)
  private val scale = new nMultiplied.Area {
    private val scaled = insert(take.lowProduct)
    val small = RegNext(((scaled @@ U(0, 2 bits)) + take.low) >> 20).resize(lowBits)
  }

  // ---- b + c - b c, 54 fraction bits (it is below 2^-9)

  private val nSum = nodes(Product.latency + 1)
  private val sum = new nSum.Area {
    private val small = insert(scale.small)
    private val both = read.middle.takeHigh(18).asUInt * small.takeHigh(18).asUInt
    private val added = (read.middle << 9) + small.resize(innerBits)
    val inner = RegNext(RegNext(added) - (RegNext(both) >> 9).resize(innerBits))
  }

  // ---- a + d - a d

  private val nJoined = nodes(joinedAt)
  private val join = new nJoined.Area {
    val inner = insert(sum.inner)
    val innerProduct = Product(inner >> 9, read.high)
    val whole = insert((read.high << 18) + inner.resize(fractionBits))
  }
  private val nCrossed = nodes(joinedAt + Product.latency)
  private val cross = new nCrossed.Area {
    private val product = insert(join.innerProduct)
    val decrease = RegNext(join.whole - (product >> 27).resize(fractionBits))
  }

  // ---- the rest 1 - x, by n; and 1 less that

  private val nDone = nodes(doneAt)
  private val done = new nDone.Area {
    val decrease = insert(cross.decrease)
    private val integer = request.y >> fractionBits
    private val mantissa = ~decrease.takeHigh(36).asUInt
    val power = carried.shiftedRight(doneAt, mantissa @@ U(0, 18 bits), integer)
    val alone = insert(integer === 0)
  }
  private val shiftedAt = doneAt + ShiftedRight.latency(single)
  private val nShifted = nodes(shiftedAt)
  private val shift = new nShifted.Area {
    private val power = insert(done.power)
    private val decayed = done.alone ? apply(done.decrease) | ~power
    private val unshifted = ~done.decrease.takeHigh(36).asUInt @@ U(0, 18 bits)
    val fixed = RegNext(request.decay ? decayed | unshifted)
  }
  private val nChosen = nodes(shiftedAt + 1)
  private val choose = new nChosen.Area {
    private val fixed = insert(shift.fixed)
    val (normal, _, zeros) = carried.normalized(shiftedAt + 1, fixed)
  }
  private val nLast = nodes.last
  new nLast.Area {
    io.response.valid := valid
    io.response.mantissa := choose.normal.takeHigh(36).asUInt
    io.response.exponent := choose.zeros +^ (request.decay ? U(0, integerBits bits) | request.y >> fractionBits)
  }
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
  def latency(single: Boolean): Int =
    doneAt + ShiftedRight.latency(single) + 1 + Normalized.latency(fractionBits, single)

  /** 1 - 2^-i / 2^step^^ for i from 0 on. */
  private def table(step: Int, fraction: Int): Mem[UInt] = {
    val entries = (0 until 1 << tableBits).map { index =>
      BigDecimal(-Math.expm1(-index.toDouble / (1 << step) * Math.log(2)) * Math.pow(2, fraction)).setScale(0,
        BigDecimal.RoundingMode.HALF_EVEN)
    }
    Mem(UInt(36 bits), entries.map(entry => U(entry.toBigInt, 36 bits)))
  }
}
