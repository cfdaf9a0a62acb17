// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.time.Instant
import spinal.core._

/** Tells that the memory of the rings has not moved an access on for half a second. The accesses of all ports go one
  * after another, so no port can go on.
  *
  * @param waits an access needs the memory's ready or valid
  * @param moves it has it in this clock
  */
class ResponseTimeout(now: Instant, waits: Bool, moves: Bool) extends Area {
  private val deadline = Reg(Instant())
  private val running = RegNext(waits && !moves) init False
  when(!running)(deadline := now + ResponseTimeout.nanoseconds)
  val expired: Bool = RegNext(running && waits && !moves && now.hasReached(deadline)) init False
}

object ResponseTimeout {
  def nanoseconds: UInt = U(1 << 29, 48 bits)
}
