// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.pipeline

import spinal.core._
import spinal.lib.misc.pipeline._

/** Brings each value from the node that has it to those that look at it, where events are `spacing` clocks apart.
  *
  * A register takes the value with the event and keeps it until the next one comes, so that as many nodes as `spacing` look at one register;
  * for those farther on another one takes it over just before. What `stays` as long where it comes from needs none.
  * Where events follow each other clock by clock, each node needs a register or a place in a memory instead (the engine's `CarriedValues`).
  */
class HeldValues(nodes: Seq[Node], spacing: Int, stays: NamedTypeKey => Boolean) extends Area {
  for (way <- ValueWays(nodes) if way.stops.nonEmpty) {
    val first = if (stays(way.key)) way.from + spacing else way.from + 1 // the node on which the first register has the value
    /** How many registers the value goes through to be on a node. */
    def registers(node: Int): Int = if (node < first) 0 else (node - first) / spacing + 1
    val values = (0 until registers(way.stops.last.node)).scanLeft(way.source) { (before, i) =>
      val after = cloneOf(before).setAsReg()
      when(nodes(first + i * spacing - 1).isValid)(after := before.asInstanceOf[after.type])
      after
    }
    for (stop <- way.stops) stop.target.assignFrom(values(registers(stop.node)))
  }
}
