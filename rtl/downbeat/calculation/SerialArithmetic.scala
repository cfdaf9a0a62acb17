// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.math.UnsignedDivider

/** A request for a product, a * b modulo 2^64, or a quotient, floor(a / b). a / 0 is all ones. */
case class ArithmeticRequest() extends Bundle {
  val divides = Bool()
  val a = UInt(SerialArithmetic.bits bits)
  val b = UInt(SerialArithmetic.shortBits bits)
}

/** One product or quotient at a time, a bit a clock: small, for units with few requests. A product takes as many clocks as the value of b has
  * bits, a quotient as many as a is wide.
  */
case class SerialArithmetic() extends Component {
  val io = new Bundle {
    val request = slave(Stream(ArithmeticRequest()))
    val response = master(Flow(UInt(SerialArithmetic.bits bits)))
  }
  noIoPrefix()

  private val divider = new UnsignedDivider(SerialArithmetic.bits, SerialArithmetic.shortBits, storeDenominator = true)
  private val busy = RegInit(False)
  private val multiplies = RegInit(False)
  private val multiplicand, product = Reg(UInt(SerialArithmetic.bits bits))
  private val multiplier = Reg(UInt(SerialArithmetic.shortBits bits))

  io.request.ready := !busy
  divider.io.flush := False
  divider.io.cmd.valid := io.request.fire && io.request.divides
  divider.io.cmd.numerator := io.request.a
  divider.io.cmd.denominator := io.request.b
  divider.io.rsp.ready := True

  multiplier := multiplier |>> 1
  multiplicand := multiplicand |<< 1
  when(multiplier.lsb)(product := product + multiplicand)
  when(io.request.fire) {
    busy := True
    multiplies := !io.request.divides
    multiplicand := io.request.a
    multiplier := io.request.b
    product := 0
  }

  private val multiplied = multiplies && !multiplier.orR
  io.response.valid := multiplied || divider.io.rsp.valid
  io.response.payload := multiplies ? product | divider.io.rsp.quotient
  when(io.response.valid) {
    busy := False
    multiplies := False
  }
}

object SerialArithmetic {
  val bits = 64
  val shortBits = 48
}
