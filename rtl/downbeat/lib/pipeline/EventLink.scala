// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.pipeline

import spinal.core._
import spinal.lib.misc.pipeline._

/** A register step without back-pressure. What an event brings along is moved by [[HeldValues]] or its like. */
class EventLink(val up: Node, val down: Node) extends Link {
  down.up = this
  up.down = this

  override def ups: Seq[Node] = List(up)
  override def downs: Seq[Node] = List(down)
  override def propagateDown(): Unit = {
    down.valid
  }
  override def propagateUp(): Unit = {}

  override def build(): Unit = {
    down.valid.setAsReg() init False
    down.valid := up.isValid
  }
}
