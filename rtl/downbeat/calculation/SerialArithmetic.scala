// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._
import spinal.lib.math.UnsignedDivider

/** A product or a quotient to be had: a * b modulo 2^64, or floor(a / b); a / 0 is all ones. */
case class ArithmeticQuestion() extends Bundle {
  val divides = Bool()
  val a = UInt(SerialArithmetic.bits bits)
  val b = UInt(SerialArithmetic.shortBits bits)
}

/** One product or quotient after the other, a bit a clock: for units that are asked rarely and should be small. A product takes as many
  * clocks as b has bits, a quotient as many as a is wide.
  */
case class SerialArithmetic() extends Component {
  val io = new Bundle {
    val question = slave(Stream(ArithmeticQuestion()))
    val answer = master(Flow(UInt(SerialArithmetic.bits bits)))
  }
  noIoPrefix()

  private val divider = new UnsignedDivider(SerialArithmetic.bits, SerialArithmetic.shortBits, storeDenominator = true)
  private val busy = RegInit(False)
  private val multiplies = RegInit(False)
  private val multiplicand, product = Reg(UInt(SerialArithmetic.bits bits))
  private val multiplier = Reg(UInt(SerialArithmetic.shortBits bits))

  io.question.ready := !busy
  divider.io.flush := False
  divider.io.cmd.valid := io.question.fire && io.question.divides
  divider.io.cmd.numerator := io.question.a
  divider.io.cmd.denominator := io.question.b
  divider.io.rsp.ready := True

  multiplier := multiplier |>> 1
  multiplicand := multiplicand |<< 1
  when(multiplier.lsb)(product := product + multiplicand)
  when(io.question.fire) {
    busy := True
    multiplies := !io.question.divides
    multiplicand := io.question.a
    multiplier := io.question.b
    product := 0
  }

  private val multiplied = multiplies && !multiplier.orR
  io.answer.valid := multiplied || divider.io.rsp.valid
  io.answer.payload := multiplies ? product | divider.io.rsp.quotient
  when(io.answer.valid) {
    busy := False
    multiplies := False
  }
}

object SerialArithmetic {
  val bits = 64
  val shortBits = 48
}
