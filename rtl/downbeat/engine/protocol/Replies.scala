// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib.misc.pipeline._

/** The reply to the event: a pure ACK or a RST, and its sequence number (RFC 9293 3.10.7). */
class Replies(
    val view: ProtocolView, verdict: SegmentVerdict, acknowledgments: Acknowledgments, challenges: ChallengeLimit,
    keepAlive: KeepAlive,
    stateMachine: StateMachine)
    extends Area {
  import view._
  import signals._
  import keepAlive.probe
  import verdict.{data, handshake}

  private val reset = new s3.Area {
    RESET_DUE := handshake.refused || stateMachine.abort.sendsReset || data.unwelcome
    RESET_ACKS := !handshake.refused
  }
  private val reply = new s3.Area {
    val acksSyn = insert(handshake.synInSynSent && handshake.connects)
    /** SND.NXT, and SND.NXT-1 for a keep-alive probe. */
    val sequence = insert(SequenceNumber(whole.highestSent.value - probe.due.asUInt))
  }
  val ack = new s4.Area {
    val wanted = insert(reply.acksSyn || acknowledgments.reply.due || challenges.reply.due || probe.due)
    ACK_DUE := wanted && !(STATE === TcpState.closed) && STATE =/= TcpState.synSent
    REPLY_SEQUENCE := Mux[SequenceNumber](RESET_ACKS, reply.sequence, ACKNOWLEDGMENT)
  }
}
