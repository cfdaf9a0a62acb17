// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import spinal.core._

/** The phases of RFC 9959, 3; `normal`: Careful Resume is over, or was never begun. */
object ResumePhase extends SpinalEnum {
  val normal, reconnaissance, unvalidated, validating, retreat = newElement()
}

/** The policy state of Careful Resume: first its argument, then the jump. */
case class ResumeState() extends Bundle {
  /** saved_cwnd and max_jump, segments, 16 bits each; from the jump on PipeSize, bytes. */
  val saved = UInt(32 bits)
  /** saved_rtt, ns. */
  val savedRtt = UInt(36 bits)
  val phase = ResumePhase()
  /** The newest round trip, ns; in the jump the gap between two segments, 8 fraction bits. */
  val newest = UInt(44 bits)
  /** Bytes that must be acknowledged before the phase ends: the initial data, what was in flight before the jump, what
    * was in flight behind it.
    */
  val left = UInt(32 bits)
  /** The time when the jump has taken a round trip, ns. */
  val deadline = UInt(48 bits)
  /** The first ACK has come; a request for the gap is due or under way; the window becomes PipeSize with the next ACK.
    */
  val acknowledged, requesting, settles = Bool()

  def savedCwnd: UInt = saved(15 downto 0)
  def maxJump: UInt = saved(31 downto 16)

  /** A connection begins in reconnaissance. */
  def begin(firstRtt: UInt): Unit = {
    phase := ResumePhase.reconnaissance
    acknowledged := False
    requesting := False
    settles := False
    left := 0
    newest := firstRtt.resized
  }
}
