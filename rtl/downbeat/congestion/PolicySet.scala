// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._
import spinal.lib._

/** The policies of a family that a build has. A policy's number in commands is its place in `all`, so that it is the
  * same in every build; the number of an absent policy is refused (`unknownPolicy`).
  *
  * @param all     the family's registry
  * @param present those of the build, in the order of `all`
  */
case class PolicySet[+P <: Policy](all: Seq[P], present: Seq[P]) {
  val numbers: Seq[Int] = present.map(all.indexOf(_))
  require(numbers.headOption.contains(0),
    s"keep ${all.head.name}: a connection that names no policy of its family gets it")
  require(numbers == numbers.sorted.distinct, "policies in the registry's order")

  def numberOf(name: String): Option[Int] = present.zip(numbers).find(_._1.name == name).map(_._2)
  /** Width of a number, that of an absent policy too. */
  val bits: Int = log2Up(all.size) max 1
  /** The build has the policy of that number. */
  def has(number: UInt): Bool =
    if (numbers.size == 1 << bits) True else numbers.map(number === _).orR

  /** Those of these names. */
  def only(names: Iterable[String]): PolicySet[P] = PolicySet(all, all.filter(policy => names.exists(_ == policy.name)))
}

object PolicySet {
  def whole[P <: Policy](all: Seq[P]): PolicySet[P] = PolicySet(all, all)
}
