// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.config.DownbeatConfig
import downbeat.lib.RestingClock
import downbeat.messages.{Booking, FlowReference, GrantEvent, NextInstant}
import downbeat.time.{Instant, Stamp}
import downbeat.wire.LaunchMode
import spinal.core._
import spinal.lib._

/** Grants each flow's next segment its departure.
  *
  * departure = departure of the segment before + the booked interval, but not before now + lead. The first departure of
  * a connection, and any after a pause, is now + lead: a pause earns no burst. The grant comes `lead` before the
  * departure. An unpaced segment is granted at once and departs now.
  *
  * All instants here are those of grants, a lead before the departure: the recurrence is the same, and the lead is
  * added once, at the end. `launch` is the departure rounded up to 2^-16 ns, so never early; the unrounded one is kept.
  */
case class Pacer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val bookings = slave(Flow(Booking(config)))
    val now = in(Stamp())
    val grants = master(Stream(GrantEvent(config)))
    val next = out(NextInstant())
    val idle = out(Bool())
  }
  noIoPrefix()
  private val lead = Instant.nanoseconds(config.grantLead)
  require(lead < (BigInt(1) << 31), s"grantLead = ${config.grantLead}: use less than 2 s")

  // A wrap of `now` shows in its top bit: it never jumps by 2^47 ns or more.
  private val now = PacerTime()
  now.ns := RegNext(io.now.ns) init 0
  now.fraction := RegNext(io.now.fraction) @@ U(0, 16 bits)
  now.epoch.setAsReg() init 0
  when(now.ns.msb && !io.now.ns.msb)(now.epoch := now.epoch + 1)

  private val schedule = PacerSchedule(config)
  schedule.io.bookings << io.bookings
  schedule.io.now := now

  private val paced = RestingClock(TimerQueue(config.flows, GrantContent(config), config.ecc))(_.io.idle)
  paced.io.posts << schedule.io.paced
  paced.io.now := io.now.instant
  private val unpaced = StreamFifo(FlowReference(config), depth = 2 * config.flows, latency = 2, forFMax = true)
  unpaced.io.push << schedule.io.unpaced.toStream
  assert(unpaced.io.push.ready || !unpaced.io.push.valid, "more unpaced bookings than two for each flow", ERROR)

  private case class Due() extends Bundle {
    val reference = FlowReference(config)
    val time = PacerTime()
    val mode = LaunchMode()
  }
  private val pacedDue = paced.io.due.translateWith {
    val due = Due()
    due.reference.flow := paced.io.due.flow
    due.reference.generation := paced.io.due.entry.content.generation
    due.time.epoch := paced.io.due.entry.content.epoch
    due.time.ns := paced.io.due.entry.at.ns
    due.time.fraction := paced.io.due.entry.content.fraction
    due.mode := paced.io.due.entry.content.mode
    due
  }
  private val unpacedDue = unpaced.io.pop.translateWith {
    val due = Due()
    due.reference := unpaced.io.pop.payload
    due.mode := LaunchMode.asap
    due.time.fraction := now.fraction
    (due.time.epoch, due.time.ns) := (now.epoch @@ now.ns) - lead
    due
  }
  private val granted = StreamArbiterFactory().roundRobin.on(Seq(pacedDue, unpacedDue)).halfPipe()
  schedule.io.granted.valid := granted.fire
  schedule.io.granted.flow := granted.reference.flow
  schedule.io.granted.time := granted.time

  private val grant = granted.translateWith {
    val grant = GrantEvent(config)
    val roundUp = granted.time.fraction(15 downto 0).orR
    grant.reference := granted.reference
    grant.mode := granted.mode
    (grant.launch.ns, grant.launch.fraction) :=
      (granted.time.ns @@ granted.time.fraction(31 downto 16)) + (U(lead, 48 bits) @@ U(0, 15 bits) @@ roundUp.asUInt)
    grant
  }.halfPipe()
  io.grants << grant

  private val moving = !schedule.io.idle || unpaced.io.occupancy =/= 0 || granted.valid || grant.valid
  io.next.armed := paced.io.next.armed || moving
  io.next.at.ns := moving ? io.now.ns | paced.io.next.at.ns
  io.idle := paced.io.idle && !moving
}
