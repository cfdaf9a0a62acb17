// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.config.DownbeatConfig
import downbeat.messages.{Deadline, NextInstant, TimerEvent}
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** One deadline for each flow, the earliest of its timers as the engine sees them.
  *
  * A deadline replaces the flow's former one. When it has passed, the flow gets one `expired` with the generation that
  * the deadline was posted with, and has none until the engine posts again.
  */
case class Timers(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val deadlines = slave(Flow(Deadline(config)))
    val now = in(Stamp())
    val expired = master(Stream(TimerEvent(config)))
    val next = out(NextInstant())
    val idle = out(Bool())
  }
  noIoPrefix()

  private val agenda = TimerQueue(config.flows, UInt(config.generationBits bits))
  agenda.io.now := io.now.instant
  agenda.io.posts.valid := io.deadlines.valid
  agenda.io.posts.flow := io.deadlines.reference.flow
  agenda.io.posts.entry.armed := io.deadlines.armed
  agenda.io.posts.entry.at := io.deadlines.at
  agenda.io.posts.entry.content := io.deadlines.reference.generation

  io.expired.arbitrationFrom(agenda.io.due)
  io.expired.reference.flow := agenda.io.due.flow
  io.expired.reference.generation := agenda.io.due.entry.content
  io.next := agenda.io.next
  io.idle := agenda.io.idle
}
