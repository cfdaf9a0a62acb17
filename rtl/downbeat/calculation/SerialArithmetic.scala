// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** A request for a product, a * b modulo 2^64, or a quotient, floor(a / b). a / 0 is all ones. */
case class ArithmeticRequest() extends Bundle {
  val divides = Bool()
  val a = UInt(SerialArithmetic.bits bits)
  val b = UInt(SerialArithmetic.shortBits bits)
}

/** One product or quotient at a time, a bit a clock: small, for units with few requests. A product takes as many clocks
  * as the value of b has bits, a quotient as many as a is wide.
  */
case class SerialArithmetic() extends Component {
  val io = new Bundle {
    val request = slave(Stream(ArithmeticRequest()))
    val response = master(Flow(UInt(SerialArithmetic.bits bits)))
  }
  noIoPrefix()

  import SerialArithmetic._
  private val busy = RegInit(False)
  private val divides = Reg(Bool())
  /** The multiplicand, doubled in each clock; or the rest of the numerator, and below it the quotient so far. */
  private val long = Reg(UInt(bits bits))
  /** The rest of the multiplier; or the denominator. */
  private val short = Reg(UInt(shortBits bits))
  private val product = Reg(UInt(bits bits))
  private val remainder = Reg(UInt(shortBits bits))
  private val left = Reg(UInt(log2Up(bits + 1) bits)) // bits of the quotient

  private val extended = remainder @@ long.msb
  private val difference = extended -^ short
  private val fits = !difference.msb
  long := (long @@ (divides && fits)).resize(bits)
  remainder := (fits ? difference | extended.resize(shortBits + 2)).resize(shortBits)
  left := left - 1
  when(!divides)(short := short |>> 1)
  when(short.lsb)(product := product + long)

  io.request.ready := !busy
  when(io.request.fire) {
    busy := True
    divides := io.request.divides
    long := io.request.a
    short := io.request.b
    product := 0
    remainder := 0
    left := bits
  }
  io.response.valid := busy && (divides ? (left === 0) | !short.orR)
  io.response.payload := divides ? long | product
  when(io.response.valid)(busy := False)
}

object SerialArithmetic {
  val bits = 64
  val shortBits = 48
}
