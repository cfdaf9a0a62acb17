// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** What lies below SND.MAX and has not been sent: between the halves of an inverted pair, one segment. */
case class HoleState(config: DownbeatConfig) extends Bundle {
  val open = config.policiesPace generate Bool()
  val start = config.policiesPace generate NearNumber(config.sendNumberBits)
}

/** The hole that the first half of an inverted pair leaves, until the second half goes, or something before it goes again: after a timeout
  * all is sent once more, in order. What is acknowledged beyond its start has never been sent.
  */
class UnsentHole(view: ProtocolView) extends Area {
  import view._
  import signals._
  private val exists = config.policiesPace
  private def past = s0(before).hole

  /** Up to here everything has been sent. */
  val sentInOrder: Payload[NearNumber] = s0.insert {
    val end = CombInit(s0(before).highestSent).allowOverride()
    if (exists) when(past.open)(end := past.start)
    end
  }
  private val fromHole = s0.insert(s0(SEQUENCE).since(s0(sentInOrder)))
  private val beyondEnd = s0.insert(s0(SEQUENCE).since(s0(before).highestSent))
  private val fills = s1.insert(if (exists) s1(before).hole.open && !s1(fromHole).orR else False)
  private val repeats = s1.insert(s1(fromHole).msb)
  private val leaves = s1.insert(if (exists) s1(hasSent) && !s1(beyondEnd).msb && s1(beyondEnd).orR else False)
  s1(RESENT) := s1(hasSent) && s1(beyondEnd).msb && !s1(fills)
  s1(AHEAD) := s1(leaves)
  s1(FILLS) := s1(hasSent) && s1(fills)

  /** Bytes of the hole before the event. */
  val bytes: Payload[UInt] = s1.insert(
    if (exists) s1(before).hole.open ? s1(before).segmentSize.resize(16) | U(0, 16 bits) else U(0, 16 bits))

  val after = HoleState(config)
  if (exists) {
    after.open := !s5(OPENING) && (s5(leaves) || s5(before).hole.open && !(s5(hasSent) && (s5(fills) || s5(repeats))))
    after.start := s5(leaves) ? s5(before).highestSent | s5(before).hole.start
  }
}
