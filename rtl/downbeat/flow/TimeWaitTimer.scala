// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.time.Instant
import spinal.core._

/** The times of a connection in TIME-WAIT. */
case class TimeWaitTimer(config: DownbeatConfig) extends Bundle {
  /** The end of 2 MSL, in units of 2^deadlineUnit ns; never early. */
  val deadline = UInt(48 - config.deadlineUnit bits)
  /** The interval of 2^27 ns (134 ms) in which the last challenge ACK went out. */
  val challenged = UInt(8 bits)

  def isOver(now: Instant): Bool = now.hasReached(end)
  def end: Instant = Instant(deadline @@ U(0, config.deadlineUnit bits))
}

object TimeWaitTimer {
  def interval(now: Instant): UInt = now.ns(34 downto 27)

  /** 2 MSL from `now` on (RFC 9293 3.4.2). */
  def deadline(config: DownbeatConfig, now: Instant): UInt =
    (now + U(Instant.nanoseconds(config.timeWait) + (1 << config.deadlineUnit) - 1, 48 bits)).ns(
      47 downto config.deadlineUnit)

  /** The connection's last segment was its ACK: a challenge may follow. */
  def begin(config: DownbeatConfig, now: Instant): TimeWaitTimer = {
    val timer = TimeWaitTimer(config)
    timer.deadline := deadline(config, now)
    timer.challenged := interval(now) - 1
    timer
  }
}
