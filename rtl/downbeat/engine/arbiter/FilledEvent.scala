// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.EngineEvent
import spinal.core._
import spinal.lib._

/** An event with those fields that its source fills.
  *
  * @param filled for each field of the event
  */
case class FilledEvent(event: EngineEvent, filled: Seq[Boolean])

object FilledEvent {
  /** `fill` gives some of the event's fields their values. */
  def apply(config: DownbeatConfig)(fill: EngineEvent => Unit): FilledEvent = {
    val event = EngineEvent(config).allowOverride()
    fill(event)
    val filled = event.flatten.map(!_.dlcIsEmpty).toSeq
    for ((field, isFilled) <- event.flatten.zip(filled) if !isFilled) field.assignDontCare()
    FilledEvent(event, filled)
  }

  /** The one of several events whose condition holds. A number that one of them alone has needs no choice: it is ignored
    * in the others. Flags and enumerations are zeros where they are not filled.
    */
  def chosen(config: DownbeatConfig, events: Seq[(Bool, FilledEvent)]): FilledEvent = apply(config) { event =>
    for ((field, place) <- event.flatten.zipWithIndex) {
      val values = events.collect { case (holds, from) if from.filled(place) => (holds, from.event.flatten(place)) }
      (values, field) match {
        case (Seq(), _) =>
        case (Seq((_, only)), number: BitVector) => number.assignFromBits(only.asBits)
        case _ => field.assignFromBits(
            values.map { case (holds, value) => value.asBits.andMask(holds) }.reduceBalancedTree(_ | _))
      }
    }
  }
}
