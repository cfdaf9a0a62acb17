// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** When a segment leaves, seen from the one before it. */
object Pace extends SpinalEnum {
  /** As the connection was opened: its spacing, or at once if that is zero. */
  val configured = newElement()
  /** `time` ns for each byte of the one before. */
  val spaced = newElement()
  /** `time` ns after the one before, SFD to SFD, or now plus the pacer's lead, whichever is later. Zero: now plus the lead. */
  val apart = newElement()
  /** Back to back with the one before, which must have left by `spaced` or `apart`. */
  val adjacent = newElement()
}

/** How a policy wants the flow's next new segment to leave. It is asked with every event, and what it answers counts if that event books a
  * departure or sends the segment: so what it answers to `sent` is between that segment and the next. The start-up policy's wish counts as
  * long as it has one, other than `configured`; then the steady policy's.
  */
case class DeparturePlan() extends Bundle {
  val pace = Pace()
  /** spaced: ns per byte, 32 fraction bits. apart: ns, 16 fraction bits. */
  val time = UInt(56 bits)
  /** spaced, apart: a token bucket of 2^burst segments, which may leave at once after a pause; then the rate holds again. */
  val burst = UInt(2 bits)
  /** New data goes in pairs, the later half first, where two full segments of it are there and the peer's window takes both. */
  val inverted = Bool()
  /** It does not leave before the window has space for so many full segments, or nothing is outstanding; nor is it held up when less data
    * than that waits. Zero, one: no such wish.
    */
  val minimumSegments = UInt(6 bits)
  /** When its ACK comes, [[ProbeAnswer]] tells of both; `begins`: gaps to the segment before it are of no interest. */
  val probe = Bool()
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
}

/** What the ACK of a probe tells. A train is a `begins` probe and those behind it; a pair is a train of two. */
case class ProbeAnswer() extends Bundle {
  /** The oldest probe that awaited its ACK has it, and its own: no other segment was acknowledged with it. */
  val answered = Bool()
  /** It began its train: there are no gaps. */
  val begins = Bool()
  /** The gaps are not those of two frames that left and arrived one after the other: the probe before it was not answered by an ACK of its
    * own, an ACK of something else came between, or this one or the one before left late.
    */
  val disturbed = Bool()
  /** From the SFD of the probe before to that of this one; from the SFD of its ACK to that of this one's. ns, all ones: that or more. */
  val departureGap, arrivalGap = UInt(36 bits)
}

object ProbeAnswer {
  def none: ProbeAnswer = {
    val answer = ProbeAnswer()
    answer.assignFromBits(B(0, widthOf(answer) bits))
    answer
  }
}
