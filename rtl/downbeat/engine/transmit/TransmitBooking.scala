// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.congestion.Pace
import downbeat.messages.Booking
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Books a departure with the pacer. A flow books when it has something to send and nothing of it is on its way: a
  * `sent` has come back, or the grant found nothing to send.
  */
class TransmitBooking(val view: TransmitView, decision: TransmitDecision) extends Area {
  import view._
  import signals._
  import decision.decide

  private val request = new s5.Area {
    val isFree = !before.booked || event.isSent || event.isGrant && !decide.wants || OPENING
    val books = insert((LIVE || OPENING) && isFree && decide.wants && !event.isGrant && !UNREADABLE)
    val first = insert(OPENING || !before.known)
    val paced = insert(DEPARTURE.pace =/= Pace.configured || DEPARTURE.time.orR)
    val perByte = insert(DEPARTURE.pace === Pace.configured || DEPARTURE.pace === Pace.spaced)
    val adjacent = insert(DEPARTURE.pace === Pace.adjacent)
    val previousLength = insert(before.lastLength.resize(14))
  }

  val booking = Flow(Booking(config))
  private val output = new exit.Area {
    booking.valid := isValid && request.books
    booking.reference.flow := FLOW
    booking.reference.generation := CONNECTION
    booking.first := request.first
    booking.paced := request.paced
    booking.interval := DEPARTURE.time
    booking.perByte := request.perByte
    booking.adjacent := request.adjacent
    booking.burst := DEPARTURE.burst
    booking.previousLength := request.previousLength
  }

  /** On step 5: what the connection keeps of its booking. */
  def update(after: TransmitState): Unit = new s5.Area {
    after.booked := request.books || decide.granted || !request.isFree
    after.known := !OPENING && before.known || request.books
  }
}
