// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The bytes below SND.MAX that have not been sent: one segment, between the two halves of an inverted pair. */
case class HoleState(config: DownbeatConfig) extends Bundle {
  val open = config.policiesPace generate Bool()
  val start = config.policiesPace generate NearNumber(config.sendNumberBits)
}

/** The hole that the first half of an inverted pair leaves.
  *
  * It closes when the second half goes; meanwhile lost segments may be sent again. After a timeout everything is sent
  * once more, in order: then it closes with the first segment. An ACK beyond the hole's start acknowledges data that was
  * never sent.
  */
class UnsentHole(val view: ProtocolView) extends Area {
  import view._
  import signals._
  private val exists = config.policiesPace

  val order = new s0.Area {
    /** Everything up to here has been sent. */
    val sentUpTo: Payload[NearNumber] = insert {
      val end = CombInit(before.highestSent).allowOverride()
      if (exists) when(before.hole.open)(end := before.hole.start)
      end
    }
    val fromHole = insert(SEQUENCE.since(sentUpTo)) // signed
    val fromHighestSent = insert(SEQUENCE.since(before.highestSent)) // signed
  }

  private val sent = new s1.Area {
    val fills = insert(if (exists) before.hole.open && !order.fromHole.orR else False)
    /** SND.NXT has gone back before the hole. */
    val repeats = insert(order.fromHole.msb && !HALF_WAY)
    val leaves = insert(if (exists) event.hasSent && !order.fromHighestSent.msb && order.fromHighestSent.orR else False)
    RESENT := event.hasSent && order.fromHighestSent.msb && !fills
    AHEAD := leaves
    FILLS := event.hasSent && fills
  }
  val size = new s1.Area {
    /** Bytes of the hole before the event. */
    val bytes: Payload[UInt] = insert(
      if (exists) Mux(before.hole.open, before.segmentSize.resize(16), U(0, 16 bits)) else U(0, 16 bits))
  }

  val after = HoleState(config)
  private val update = exists generate new s5.Area {
    after.open := !OPENING && (sent.leaves || before.hole.open && !(event.hasSent && (sent.fills || sent.repeats)))
    after.start := Mux(sent.leaves, before.highestSent, before.hole.start)
  }
}
