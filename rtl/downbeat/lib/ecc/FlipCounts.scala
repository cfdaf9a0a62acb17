// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.ecc

import spinal.core._
import spinal.lib._
import scala.collection.mutable

/** Finds the flips that all memories below a component report. A memory marks its signals and the top collects them, so
  * nothing between carries them.
  */
object FlipCounts {
  private object Corrected extends SpinalTag
  private object Uncorrectable extends SpinalTag

  /** A read corrected a flip in this clock. */
  def countCorrected(found: Bool): Unit = mark(found, Corrected)
  /** Two flips were found, or what they have ended. */
  def countUncorrectable(found: Bool): Unit = mark(found, Uncorrectable)

  private def mark(found: Bool, tag: SpinalTag): Unit = (RegNext(found) init False).addTag(tag)

  def corrected(top: Component): Bool = any(top, Corrected)
  def uncorrectable(top: Component): Bool = any(top, Uncorrectable)

  /** A clock counts once, whatever happens in it. */
  private def any(top: Component, tag: SpinalTag): Bool = {
    val found = mutable.ArrayBuffer[Bool]()
    top.walkComponents(_.dslBody.walkDeclarations {
      case signal: Bool if signal.hasTag(tag) => found += signal
      case _ =>
    })
    RegNext(found.map(_.pull()).toSeq.reduceBalancedTree(_ || _)) init False
  }
}
