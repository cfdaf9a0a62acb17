// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.config.DownbeatConfig
import downbeat.messages.{Deadline, NextInstant, TimerEvent}
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Keeps one deadline for each flow: the earliest of its timers, which the engine chooses.
  *
  * A new deadline replaces the flow's former one. When it has passed, the flow gets one `expired` with the deadline's
  * generation, and then none until the engine posts again.
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

  private val queue = TimerQueue(config.flows, UInt(config.generationBits bits), config.ecc)
  queue.io.now := io.now.instant
  queue.io.posts.valid := io.deadlines.valid
  queue.io.posts.flow := io.deadlines.reference.flow
  queue.io.posts.entry.armed := io.deadlines.armed
  queue.io.posts.entry.at := io.deadlines.at
  queue.io.posts.entry.content := io.deadlines.reference.generation

  io.expired.arbitrationFrom(queue.io.due)
  io.expired.reference.flow := queue.io.due.flow
  io.expired.reference.generation := queue.io.due.entry.content
  io.next := queue.io.next
  io.idle := queue.io.idle
}
