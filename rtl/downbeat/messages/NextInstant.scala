// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.time.Instant
import spinal.core._

/** When a module next needs attention: perhaps early, never late. */
case class NextInstant() extends Bundle {
  val armed = Bool()
  val at = Instant()
}

object NextInstant {
  def earlier(one: NextInstant, other: NextInstant): NextInstant = {
    val next = NextInstant()
    next.armed := one.armed || other.armed
    next.at := (one.armed && !(other.armed && other.at.isBefore(one.at))) ? one.at | other.at
    next
  }
}
