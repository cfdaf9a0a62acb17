// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The send sequence variables of RFC 9293 3.3.1 after the event: SND.UNA, SND.MAX, SND.WND, SND.WL1, and the end of
  * what is written.
  */
class SendSequence(
    val view: ProtocolView, verdict: SegmentVerdict, ackCheck: AckCheck, hole: UnsentHole, urgency: Urgency,
    stateMachine: StateMachine)
    extends Area {
  import view._
  import signals._
  import ackCheck.windows
  import stateMachine.icmp
  import verdict.{effect, handshake, peerSyn}

  private val order = new s0.Area {
    val endFromHighestSent = insert(end.sequence.since(before.highestSent)) // signed
  }
  private val initial = new s1.Area {
    /** The number behind our SYN. */
    val firstData = insert(INITIAL_SEQUENCE + U(1, 1 bits))
  }
  private val sent = new s2.Area {
    val goesFurther = insert(event.hasSent && !order.endFromHighestSent.msb)
  }
  private val request = new s3.Area {
    val finishes = insert(!OPENING && (before.finishing || kind.shutdown && LIVE || kind.close && LIVE))
    /** SND.MAX - SND.UNA, less the hole. */
    val inFlight = insert(bytes.outstanding - hole.size.bytes)
  }

  private val acknowledged = new s4.Area {
    ADVANCED := effect.acknowledges
    ACKED := Mux[UInt](effect.acknowledges, ackCheck.distance.ack, U(0, 32 bits))
    DUPLICATE := effect.duplicates
    REPEATED := effect.repeatsAck
    OUTSTANDING_BEFORE := request.inFlight
  }
  private val numbers = new s4.Area {
    FINISHING := request.finishes
    UNACKNOWLEDGED := Mux[SequenceNumber](
      OPENING, INITIAL_SEQUENCE, Mux[SequenceNumber](effect.acknowledges, ACKNOWLEDGMENT, before.unacknowledged))
    HIGHEST_SENT := Mux(
      OPENING,
      Mux[SequenceNumber](COOKIE, initial.firstData, INITIAL_SEQUENCE),
      Mux[SequenceNumber](sent.goesFurther, end.sequence, whole.highestSent))
    WRITTEN := Mux[SequenceNumber](
      OPENING,
      initial.firstData,
      Mux[SequenceNumber](kind.written && LIVE && !before.finishing, urgency.written.end, whole.written))
  }
  private val window = new s4.Area {
    PEER_SCALE := Mux[UInt](before.scaling, before.windowScale, U(0, 4 bits))
    SEND_WINDOW := Mux[UInt](OPENING || effect.updatesWindow, windows.offeredBytes, windows.sendBytes).resized
    RESUMED := effect.updatesWindow && !before.sendWindow.field.orR && before.state =/= TcpState.synSent || icmp.narrows ||
      handshake.synInSynSent && !handshake.connects || handshake.synAgain
  }
  private val outstanding = new s5.Area {
    OUTSTANDING := HIGHEST_SENT.since(UNACKNOWLEDGED)
    LARGEST_WINDOW := Mux[UInt](OPENING || effect.raisesWindow, windows.offeredBytes, windows.largestBytes)
  }

  def keep(next: ProtocolState): Unit = new s5.Area {
    next.unacknowledged := UNACKNOWLEDGED
    next.highestSent := HIGHEST_SENT.low(config.sendNumberBits)
    next.hole := hole.after
    next.written := WRITTEN.low(config.sendNumberBits)
    next.finishing := FINISHING
    next.sendWindow := Mux[PeerWindow](OPENING || effect.updatesWindow, windows.offered, before.sendWindow)
    next.largestWindow := Mux[PeerWindow](OPENING || effect.raisesWindow, windows.offered, before.largestWindow)
    next.windowSequence := Mux(
      peerSyn.taken || effect.updatesWindow, SEQUENCE.low(config.receiveNumberBits), before.windowSequence)
  }
}
