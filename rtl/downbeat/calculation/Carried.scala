// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.lib.pipeline.{EventLink, HeldValues}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The nodes of a long calculation, one clock apart, and how values get from a node to later nodes.
  *
  * Either a request may come in each clock. Then a value moves with its request, through a register for each node, or
  * far through a memory. Or there is a `single` request at a time. Then a value has one register, which keeps it until
  * the next request.
  */
class Carried(length: Int, single: Boolean) extends Area {
  val nodes: Seq[Node] = List.fill(length)(Node())

  /** `value` of node `from` on node `to`, where no node between reads it. */
  def far[T <: Data](value: T, from: Int, to: Int): T =
    if (single) nodes(to)(nodes(from).insert(value)) else DelayLine(value, to - from)

  /** The product of two values of a node, Product.latency nodes later. */
  def product(node: Int, left: UInt, right: UInt): Payload[UInt] =
    nodes(node + Product.latency).insert(Product(left, right))

  /** `value` of a node and another one shifted left by the zeros above its top bit, and their number,
    * Normalized.latency nodes later.
    */
  def normalized(node: Int, value: UInt, along: UInt = U(0, 1 bits)): (UInt, UInt, UInt) =
    Normalized(value, along, arrives(node))

  /** `value` of a node shifted right, ShiftedRight.latency nodes later. */
  def shiftedRight(node: Int, value: UInt, distance: UInt): UInt = ShiftedRight(value, distance, arrives(node))

  private def arrives(node: Int): Option[Bool] = if (single) Some(nodes(node).valid) else None

  /** To be called when all logic is placed. */
  def build(): Unit = {
    if (single) new HeldValues(nodes, length, stays = _ => false)
    Builder(for ((up, down) <- nodes.zip(nodes.tail))
        yield if (single) new EventLink(up, down) else StageLink(up, down))
  }
}
