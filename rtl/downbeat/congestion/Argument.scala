// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** One number of a policy's argument. The core refuses a value outside its bounds. Programs learn from the layout how
  * users write it.
  *
  * @param name     as users write it: `a=0.5`; letters
  * @param bits     its width in the argument; the first number declared is the least significant
  * @param fraction how many of them are fraction bits
  * @param unit     "ns", "bytes", "bytes/s" (which users write in b/s), "segments", "tenths" (which users write as
  *                 a plain number); empty: a plain number
  * @param min      the smallest legal value, in bits of the field
  * @param largest  the largest legal value; none: all ones
  * @param default  in bits of the field
  */
case class Argument(
    name: String, bits: Int, fraction: Int = 0, unit: String = "", min: BigInt = 0, largest: Option[BigInt] = None,
    default: BigInt = 0) {
  val allOnes: BigInt = (BigInt(1) << bits) - 1
  val max: BigInt = largest.getOrElse(allOnes)
  require(name.nonEmpty && name.forall(_.isLetter), s"argument '$name': use letters")
  require(min <= max && max <= allOnes && default <= max,
    s"argument $name: $min to $max, default $default, do not fit $bits bits")
}

/** All numbers of a policy's argument.
  *
  * @param notAbove pairs of names of the same unit and fraction: the value of the first must not be above the second's
  * @param needed   a connection must give the argument; otherwise all bits may be zero: the policy's default
  */
case class Arguments(fields: Seq[Argument] = Nil, notAbove: Seq[(String, String)] = Nil, needed: Boolean = false) {
  val bits: Int = fields.map(_.bits).sum
  private val names = fields.map(_.name)
  require(names.distinct == names, s"arguments ${names.mkString(", ")}: two of one name")
  for ((lesser, greater) <- notAbove)
    require(names.contains(lesser) && names.contains(greater), s"$lesser not above $greater: there is no such argument")

  /** The lowest bit of a field. */
  def offset(name: String): Int = fields.takeWhile(_.name != name).map(_.bits).sum

  /** The conditions of a legal argument, with any bits above it. Each is one comparison. */
  def conditions(word: Bits): Seq[Bool] = {
    def value(name: String): UInt = word(offset(name), fields.find(_.name == name).get.bits bits).asUInt
    val aboveMin = fields.filter(_.min > 0).map(field => !(value(field.name) < U(field.min, field.bits bits)))
    val belowMax = fields.filter(field => field.max < field.allOnes).map(field =>
      !(U(field.max, field.bits bits) < value(field.name)))
    val ordered = notAbove.map { case (lesser, greater) => !(value(greater) < value(lesser)) }
    val above = if (widthOf(word) > bits) Seq(!word(widthOf(word) - 1 downto bits).orR) else Nil
    aboveMin ++ belowMax ++ ordered ++ above
  }
}
