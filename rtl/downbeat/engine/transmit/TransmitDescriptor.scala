// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.engine.pipeline.ReturnEvent
import downbeat.messages.{ConnectionEnd, SegmentDescriptor, TcpState}
import downbeat.wire.{LaunchMode, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Describes the segment that leaves: what a grant sends, a pure ACK or a RST; and the end of a flow. One descriptor an
  * event at most.
  */
class TransmitDescriptor(
    val view: TransmitView, resend: RetransmittedSegment, decision: TransmitDecision) extends Area {
  import view._
  import signals._
  import decision.{decide, fit, origin, position, space}

  /** Our window as the wire carries it. With SYN it is never scaled (RFC 7323 2.2). */
  private val scale = new s2.Area {
    val shift = insert(Mux(SCALING && !origin.inSyn, U(config.receiveWindowScale, 4 bits), U(0, 4 bits)))
    val window = insert(RECEIVE_WINDOW |>> shift)
    /** RCV.NXT is one past the window: a FIN took no space behind what filled it. */
    val isPassed = insert(RECEIVE_WINDOW.andR)
  }
  private val saturate = new s3.Area {
    val window = insert(Mux[UInt](
        scale.isPassed, U(0, 16 bits), Mux(scale.window > 65535, U(65535, 16 bits), scale.window.resize(16))))
  }

  /** The segment that a grant sends. */
  val segment = new s5.Area {
    /** It is the first half of a pair: the segment at SND.NXT goes after it. */
    val ahead = insert(decide.inverts && decide.sendsWhole && !decide.retransmits && !fit.synDue)
    val sequence = insert(Mux[SequenceNumber](
        decide.retransmits, resend.start.sequence, Mux[SequenceNumber](ahead, space.secondOfPair, position.next)))
    private val bytes = UInt(14 bits)
    private val last = Bool()
    bytes := Mux[UInt](fit.hasData, decide.length, U(0, 14 bits))
    last := Mux[Bool](fit.hasData, decide.sendsWhole && decide.sendsFin, fit.hasFin)
    when(fit.synDue) {
      bytes := 0
      last := False
    }
    when(decide.retransmits) {
      bytes := resend.length
      last := resend.end.fin
    }
    when(ahead)(last := False)
    val length = insert(bytes)
    val fin = insert(last)
    val syn = insert(!decide.retransmits && fit.synDue)
    val push = insert(apply(decide.endsData))
    /** ECT: new data may be marked (RFC 3168 6.1.5: no retransmission is). A probe of a shut window may not (6.1.6);
      * its byte, refused, is new when it goes as data.
      */
    val ecnCapable = insert(
      ECN_CAPABLE && !decide.retransmits && !(space.again && !before.probed) && !fit.synDue && fit.hasData &&
        !decide.probesShut)
    /** New data says once that the window was reduced. */
    val cwr = insert(before.reduced)
    /** Its ACK is measured, if it is a full segment of new data. */
    val probe = insert(DEPARTURE.probe && !decide.retransmits && !space.again && decide.sendsWhole && decide.isFull)
    val leaves = insert((decide.granted || ACK_DUE || RESET_DUE) && !UNREADABLE || RELEASE)
    val returns = insert(decide.granted || RESET_DUE || LINGERS || GIVEN_UP || UNREADABLE && STATE =/= TcpState.closed)
  }

  private val reply = new ReplySequence(view, decision)

  val descriptor = Flow(SegmentDescriptor(config))
  val output = new exit.Area {
    private val flags = descriptor.flags
    descriptor.valid := isValid && segment.leaves
    descriptor.release := RELEASE
    descriptor.reference.flow := FLOW
    descriptor.reference.generation := CONNECTION
    descriptor.sequence := Mux[SequenceNumber](decide.granted, segment.sequence, reply.sequence)
    // Without ACK it would say where the flow's last connection ended.
    descriptor.acknowledgment := SequenceNumber(Mux(flags.ack, RECEIVED.value, U(0, 32 bits)))
    flags.assignFromBits(B(0, 8 bits))
    flags.allowOverride()
    flags.ack := Mux(decide.granted, STATE =/= TcpState.synSent, ACK_DUE || RESET_ACKS)
    flags.rst := RESET_DUE
    flags.syn := decide.granted && segment.syn
    flags.fin := decide.granted && segment.fin
    flags.ece := ECHOES_CONGESTION && !RESET_DUE
    flags.cwr := decide.granted && segment.ecnCapable && segment.cwr
    flags.psh := decide.granted && segment.push && segment.length.orR
    descriptor.windowScaleOffered := STATE === TcpState.synSent || SCALING
    descriptor.window := saturate.window
    descriptor.urgent := URGENT && !RESET_DUE && !flags.syn
    descriptor.urgentEnd := URGENT_END.low
    descriptor.sackPermitted := SELECTIVE
    // A RST has them too, once they are agreed upon (RFC 7323 3.2).
    descriptor.timestamped := TIMESTAMPED && !(RESET_DUE && STATE === TcpState.synSent)
    descriptor.timestampValue := TIMESTAMP_VALUE
    descriptor.timestampEcho := Mux(flags.ack, apply(TIMESTAMP_ECHO), U(0, 32 bits))
    descriptor.sack := RECEIVED_RANGES
    descriptor.duplicateBelow := DUPLICATE_BELOW
    descriptor.ecnCapable := decide.granted && segment.ecnCapable
    descriptor.length := Mux[UInt](decide.granted, segment.length, U(0, 14 bits))
    descriptor.mode := Mux(decide.granted, apply(MODE), LaunchMode.asap())
    descriptor.launch := STAMP
    descriptor.stamped := decide.granted
    // RFC 3168 6.1.1: a SYN asks with ECE and CWR, a SYN-ACK grants with ECE alone.
    when(ECN_CAPABLE && flags.syn) {
      flags.ece := True
      flags.cwr := STATE === TcpState.synSent
    }
    /** The event sends what has been sent before. */
    val repeats = decide.retransmits || space.again
  }

  val ended = Flow(ConnectionEnd(config))
  private val end = new exit.Area {
    ended.valid := isValid && RELEASE
    ended.flow := FLOW
    ended.waits := RETIRES
    ended.numbers.next := HIGHEST_SENT
    ended.numbers.received := RECEIVED
    ended.numbers.timestamped := TIMESTAMPED
    ended.numbers.recent := TIMESTAMP_ECHO
  }

  /** `sent` for what was granted; an empty one for a RST, so that the arbiter looks once more at a connection that ends
    * with it; likewise for the ACK with which TIME-WAIT begins.
    */
  val returned = Flow(ReturnEvent(config))
  private val echo = new exit.Area {
    returned.valid := isValid && segment.returns
    returned.failed := GIVEN_UP || UNREADABLE
    if (config.ecc) returned.memoryError := UNREADABLE
    returned.reference := descriptor.reference
    returned.sequence := descriptor.sequence
    returned.length := descriptor.length
    returned.syn := descriptor.flags.syn
    returned.fin := descriptor.flags.fin
    returned.acknowledgment := descriptor.acknowledgment
    returned.window := descriptor.window
    returned.probe := decide.granted && segment.probe
    returned.begins := DEPARTURE.begins
    returned.halfWay := origin.halfWay
  }
}
