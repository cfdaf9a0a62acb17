// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.config.DownbeatConfig
import downbeat.engine.recovery.SendLog
import downbeat.time.NearInstant
import downbeat.wire.SequenceNumber
import spinal.core._

/** The delivery meter's state of a connection (draft-ietf-ccwg-bbr 4.1.2), in a side memory. Bytes; totals modulo 2^32.
  */
case class DeliveryState(config: DownbeatConfig) extends Bundle {
  /** C.delivered, and C.lost. */
  val delivered, lost = UInt(32 bits)
  val deliveredTime, firstSend = NearInstant(config.roundTripBits)
  /** Lost and not sent again. */
  val lostNow = UInt(config.sendOffsetBits bits)
  /** C.app_limited: until the total exceeds `limitedUntil`. */
  val limited = Bool()
  val limitedUntil = UInt(32 bits)
}

/** How far the peer has reported, and how numbers go to places of a connection's log. */
case class DeliveryPlaces(config: DownbeatConfig) extends Bundle {
  /** One past the highest byte that the peer has reported. */
  val highest = SequenceNumber()
  private val varies = DeliveryMeter.longestShift(config) > SendLog.placeShift
  /** A place is for 2^shift bytes; so, up to `changedAt`, for 2^shiftBefore. */
  val shift, shiftBefore = varies generate UInt(log2Up(DeliveryMeter.longestShift(config) + 1) bits)
  val changedAt = varies generate SequenceNumber()
}

/** P: a segment, and the connection when it left. */
case class DeliveryRecord(config: DownbeatConfig) extends Bundle {
  /** One past its last byte. */
  val end = SequenceNumber()
  /** The SFD has been seen at the wire, at `departure`. */
  val departed = Bool()
  val departure = NearInstant(config.roundTripBits)
  val delivered, lost = UInt(32 bits)
  val deliveredTime, firstSend = NearInstant(config.roundTripBits)
  val inFlight = UInt(config.sendOffsetBits bits)
  val limited = Bool()
  /** It was sent again. */
  val again = Bool()
}
