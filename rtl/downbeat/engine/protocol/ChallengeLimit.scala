// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import spinal.core._
import spinal.lib.misc.pipeline._

/** A connection's state of challenge ACKs. */
case class ChallengeState() extends Bundle {
  val interval = UInt(8 bits) // the number of the current interval
  val left = UInt(4 bits) // challenge ACKs that it still allows
}

/** The limit on challenge ACKs: 8 to 15 in each interval of 2^30 ns (RFC 5961 7).
  *
  * A limit that is shared or known tells an attacker whether his guess of a sequence number was right (CVE-2016-5696).
  * Therefore each connection has its own limit, drawn again for each interval from sequence numbers that the attacker
  * would have to guess.
  */
class ChallengeLimit(val view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import verdict.challenge

  private val draw = new s0.Area {
    private val now = NOW.ns(37 downto 30)
    val sameInterval = insert(before.challenges.interval === now)
    private val secret = before.unacknowledged.value ^ before.received.value
    val limit = insert(U"1" @@ (secret(2 downto 0) ^ secret(15 downto 13) ^ secret(31 downto 29) ^ now(2 downto 0)))
  }
  private val budget = new s1.Area {
    val left = insert(Mux[UInt](draw.sameInterval && !OPENING, before.challenges.left, draw.limit))
  }
  private val check = new s2.Area {
    val exhausted = insert(!budget.left.orR)
  }

  val reply = new s3.Area {
    val spends = insert(challenge.due && challenge.limited && !check.exhausted)
    /** A challenge ACK goes out. */
    val due = insert(challenge.due && !(challenge.limited && check.exhausted))
    /** The limit holds a challenge ACK back. */
    val suppressed = insert(challenge.due && challenge.limited && check.exhausted)
  }

  val after = ChallengeState()
  private val update = new s5.Area {
    after.interval := NOW.ns(37 downto 30)
    after.left := budget.left - reply.spends.asUInt
  }
}
