// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.lib.pipeline.{EventLink, HeldValues}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The nodes of a long calculation, a clock from each to the next, and how values get from one to those behind it.
  *
  * Either a request may come in each clock: then a value moves on with its request, through a register a node, or far through a memory. Or
  * there is a `single` one at a time: then a value has one register, which keeps it until the next request.
  */
class Carried(length: Int, single: Boolean) extends Area {
  val nodes: Seq[Node] = List.fill(length)(Node())

  /** `value` as it is on node `from`, on node `to`, where no node between looks at it. */
  def far[T <: Data](value: T, from: Int, to: Int): T = if (single) nodes(to)(nodes(from).insert(value)) else DelayLine(value, to - from)

  /** To be called when all logic is placed. */
  def build(): Unit = {
    if (single) new HeldValues(nodes, length, stays = _ => false)
    Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield if (single) new EventLink(up, down) else StageLink(up, down))
  }
}
