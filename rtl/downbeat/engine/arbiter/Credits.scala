// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.config.DownbeatConfig
import spinal.core._

/** Counts the places of an output queue, so that the arbiter takes no event whose effect would find the queue full.
  *
  * Each event takes one place. The place is free again when the event causes nothing, or when what it caused has left
  * the queue. The counter sees each of the three a clock later, so it adds neither to the path of the choice nor to
  * that of the queue's reader.
  *
  * @param taken  an event has been chosen
  * @param unused an event leaves the pipeline and puts nothing into the queue
  * @param freed  a word leaves the queue
  */
class Credits(places: Int, taken: Bool, unused: Bool, freed: Bool) extends Area {
  private val used = Reg(UInt(log2Up(places + 1) bits)) init 0
  private val change = Seq(taken, unused, freed).map(RegNext(_) init False).map(_.asUInt)
  used := used + change(0) - change(1) - change(2)

  /** One more event may be taken. It is seen four clocks late. */
  val left: Bool = RegNext(used < places - 5) init False
}

object Credits {
  /** Descriptors, and returns, that may be under way at once: more than the events that fit into the engine. */
  def places(config: DownbeatConfig): Int = if (config.eventSpacing == 1) 64 else 16
}
