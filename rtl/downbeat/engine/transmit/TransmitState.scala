// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.messages.EventKind
import downbeat.wire.NearNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The transmit stage's state of a connection. */
case class TransmitState(config: DownbeatConfig) extends Bundle {
  val nextSend = NearNumber(config.sendNumberBits) // SND.NXT
  /** A booking or its grant is on its way, or a segment's `sent` has not come back. */
  val booked = Bool()
  /** The pacer knows this connection. */
  val known = Bool()
  val probing = Bool()
  /** At SND.UNA probes of a shut window have been sent, and nothing else. */
  val probed = Bool()
  val noDelay = Bool()
  /** The window was reduced: the next new data carries CWR (RFC 3168 6.1.2). */
  val reduced = Bool()
  val lastLength = UInt(config.segmentBits bits) // payload bytes of the last segment granted
  /** The segment after the one at SND.NXT has gone first: the pair is inverted. */
  val inverted = config.policiesPace generate Bool()
  val rate = ProportionalRateState(config)
}

/** The inputs that the parts of transmit share: the steps, the connection before the event, and which event it is. */
class TransmitView(
    val config: DownbeatConfig, val signals: Signals, val before: Payload[TransmitState], steps: Seq[Node],
    val exit: Node)
    extends Area {
  import signals._
  val s0: Node = steps(0)
  val s1: Node = steps(1)
  val s2: Node = steps(2)
  val s3: Node = steps(3)
  val s4: Node = steps(4)
  val s5: Node = steps(5)

  val event = new s0.Area {
    val isGrant = insert(LIVE && KIND === EventKind.grant)
    /** A segment has left that takes sequence space. */
    val isSent = insert(LIVE && KIND === EventKind.sent && (LENGTH.orR || FLAGS.syn || FLAGS.fin))
  }
}
