// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** When a segment leaves, in terms of the segment before it. */
object Pace extends SpinalEnum {
  /** As the connection was opened: its spacing, or at once if that is zero. */
  val configured = newElement()
  /** `time` ns after the one before for each byte of it. */
  val spaced = newElement()
  /** `time` ns after the one before, SFD to SFD, or now plus the pacer's lead, whichever is later. Zero: now plus the
    * lead.
    */
  val apart = newElement()
  /** Back to back with the one before, which must have left by `spaced` or `apart`. */
  val adjacent = newElement()
}

/** How a policy lets the flow's next new segment leave. A policy gives a plan with every event. The plan counts if that
  * event books a departure or sends the segment, so the plan with `sent` is between that segment and the next. The
  * start-up policy's plan counts if it says anything; otherwise the steady policy's counts.
  */
case class DeparturePlan() extends Bundle {
  val pace = Pace()
  /** spaced: ns per byte, 32 fraction bits. apart: ns, 16 fraction bits. */
  val time = UInt(56 bits)
  /** spaced, apart: a token bucket of 2^burst segments, which may leave at once after a pause; then the rate holds
    * again.
    */
  val burst = UInt(2 bits)
  /** New data goes in pairs, the later half first, if there are two full segments of it and the peer's window takes
    * both.
    */
  val inverted = Bool()
  /** The segment does not leave before the window has space for so many full segments, or nothing is outstanding. It is
    * not held up if less data than that waits. Zero and one: no such condition.
    */
  val minimumSegments = UInt(6 bits)
  /** A probe: when its ACK comes, [[ProbeAck]] reports both. */
  val probe = Bool()
  /** The probe begins a train: gaps to the segment before it do not count. */
  val begins = Bool()
}

object DeparturePlan {
  val timeBits = 56

  def configured: DeparturePlan = {
    val departure = DeparturePlan()
    departure.assignFromBits(B(0, widthOf(departure) bits))
    departure.pace.allowOverride() := Pace.configured
    departure
  }

  /** Segments leave as the connection was opened; while `active` each is a probe, and a train of its own. */
  def probing(active: Bool): DeparturePlan = {
    val departure = CombInit(configured).allowOverride()
    departure.probe := active
    departure.begins := active
    departure
  }
}

/** The ACK of a probe. A train is a probe that `begins` and those after it. A pair is a train of two. */
case class ProbeAck() extends Bundle {
  /** The oldest outstanding probe has its ACK, and no other segment was acknowledged with it. */
  val answered = Bool()
  /** The probe began its train: there are no gaps. */
  val begins = Bool()
  /** The gaps are not those of two consecutive frames: the probe before had no ACK of its own, another
    * ACK came between, or one of the two left late.
    */
  val disturbed = Bool()
  /** From the SFD of the probe before to that of this one; from the SFD of its ACK to that of this one's. ns, all ones:
    * that or more.
    */
  val departureGap, arrivalGap = UInt(36 bits)
  /** From the probe's SFD to that of its ACK, ns, modulo 2^36. */
  val roundTrip = UInt(36 bits)

  /** The ACK of a later probe than the first of its train; and both of its gaps are right. */
  def ended: Bool = answered && !begins
  def measured: Bool = ended && !disturbed
}

object ProbeAck {
  def none: ProbeAck = {
    val ack = ProbeAck()
    ack.assignFromBits(B(0, widthOf(ack) bits))
    ack
  }
}
