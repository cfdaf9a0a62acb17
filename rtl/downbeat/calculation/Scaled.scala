// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A number of [[LogisticUnit]]: mantissa x 2^exponent - 64^, in 2^-16^ bytes. The mantissa's top bit is set. It is two
  * DSP blocks wide.
  */
private[calculation] case class Scaled() extends Bundle {
  val exponent = UInt(7 bits)
  val mantissa = UInt(36 bits)

  /** In the order of the numbers. */
  def asUnsigned: UInt = exponent @@ mantissa
}

private[calculation] object Scaled {
  /** The exponent of a window whose top bit is set. */
  val one: Int = 64 + 12

  def apply(exponent: UInt, mantissa: UInt): Scaled = {
    val scaled = Scaled()
    scaled.exponent := exponent
    scaled.mantissa := mantissa
    scaled
  }
}

/** Operands that wait for the exponential: b - s, s, their ratio and b's exponent; b s without its lower 34 bits. */
private[calculation] case class LogisticTerms() extends Bundle {
  val difference, small = UInt(36 bits)
  val ratio, bigExponent = UInt(7 bits)
  val numerator = UInt(38 bits)
}
