// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import spinal.core._
import spinal.lib.misc.pipeline._

/** Challenge ACKs of a connection. */
case class ChallengeState() extends Bundle {
  val interval = UInt(8 bits) // the current one's number
  val left = UInt(4 bits)
}

/** Challenge ACKs are limited to 8 to 15 in an interval of 2^30 ns (RFC 5961 7).
  *
  * A limit that connections share, or that is known, is a channel through which a stranger learns whether his guess of
  * a sequence number was right (CVE-2016-5696): so each connection has its own, drawn anew from numbers that he would have to guess.
  */
class ChallengeLimit(view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._

  private val past = s0(before)
  private val now = s0(NOW).ns(37 downto 30)
  private val same = s0.insert(past.challenges.interval === now)
  private val secret = past.unacknowledged.value ^ past.received.value
  private val draw = s0.insert(U"1" @@ (secret(2 downto 0) ^ secret(15 downto 13) ^ secret(31 downto 29) ^ now(2 downto 0)))
  private val left = s1.insert((s1(same) && !s1(OPENING)) ? s1(before).challenges.left | s1(draw))
  private val exhausted = s2.insert(!s2(left).orR)

  private val spends = s3.insert(s3(verdict.challenged) && s3(verdict.limited) && !s3(exhausted))
  val due = s3.insert(s3(verdict.challenged) && !(s3(verdict.limited) && s3(exhausted)))
  /** One that had to remain unanswered. */
  val suppressed = s3.insert(s3(verdict.challenged) && s3(verdict.limited) && s3(exhausted))

  val after = ChallengeState()
  after.interval := s5(NOW).ns(37 downto 30)
  after.left := s5(left) - s5(spends).asUInt
}
