// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{CommandPort, Notifier}
import downbeat.config.DownbeatConfig
import downbeat.engine.FlowEngine
import downbeat.flow.FlowDirectory
import downbeat.lib.RestingClock
import downbeat.messages.{Command, NextInstant, Notification}
import downbeat.pacing.{Pacer, Timers}
import downbeat.time.Stamp
import downbeat.wire.AxiStream
import spinal.core._
import spinal.lib._

/** The flow engine and the modules that know neither frames nor payload: what [[Downbeat]] and [[HeaderTap]] have in common.
  *
  * Left to the top: segments and opens in, descriptors and statelessReplies out, payload, departures.
  */
class EngineModules(
    config: DownbeatConfig, now: Stamp, localIp: UInt, secret: Bits, commands: AxiStream, notifications: AxiStream)
    extends Area {
  val directory = RestingClock(FlowDirectory(config))(_.io.idle)
  // A descriptor that goes out in this clock must not be there in the next one.
  val engine = RestingClock(FlowEngine(config))(module => module.io.waits && !module.io.descriptors.fire)
  val pacer = Pacer(config)
  val timers = Timers(config)
  val commandPort = CommandPort(config)
  val notifier = Notifier(config)

  directory.io.now := now
  directory.io.localIp := localIp
  directory.io.secret := secret
  directory.io.handshakeOver << engine.io.handshakeOver
  engine.io.now := now
  engine.io.directory << directory.io.events

  pacer.io.now := now
  pacer.io.bookings << engine.io.bookings
  engine.io.grants << pacer.io.grants
  timers.io.now := now
  timers.io.deadlines << engine.io.deadlines
  engine.io.timers << timers.io.expired

  commandPort.io.commands << commands.toStream(Command(config))(_.assignFromBits(commands.word))
  directory.io.listens << commandPort.io.listens
  if (config.policiesChoose) engine.io.policies << commandPort.io.policies
  notifier.io.status << engine.io.status
  notifier.io.addressRead <> directory.io.addressRead(1)
  notifications.fromStream(notifier.io.notifications) { notification: Notification => notifications.tdata := notification.asBits.resized }

  /** One line of several modules', behind a register both ways: what one module has does not make another wait in the same clock. */
  def inTurn[T <: Data](lines: Stream[T]*): Stream[T] = StreamArbiterFactory().roundRobin.transactionLock.on(lines).halfPipe()

  /** `idle` of a top that has these other modules. A module may say a clock late that it is busy, this says so a clock later, and `nextDeadline` is
    * late: all must have been idle for six clocks.
    */
  def idleWith(engineIdle: Bool, others: Bool*): Bool = {
    val own = Seq(directory.io.idle, engineIdle, pacer.io.idle, timers.io.idle, commandPort.io.idle, notifier.io.idle)
    val idle = (own ++ others).map(RegNext(_) init False).reduce(_ && _)
    History(idle, 6, init = False).andR
  }

  /** `nextDeadline` of a top in which others have one too; three clocks late, for which `idle` has waited. */
  def nextDeadlineWith(others: NextInstant*): UInt = {
    val next =
      (Seq(pacer.io.next, timers.io.next) ++ others).map(RegNext(_)).reduceBalancedTree(NextInstant.earlier, (next, _) => RegNext(next))
    next.armed ? next.at.ns | U(48 bits, default -> true)
  }
}
