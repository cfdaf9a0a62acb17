// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The meaning of a segment for its connection: RFC 9293 3.10.7, with RFC 5961's replies to RST, SYN and ACK.
  *
  * Step 0 takes distances, step 1 compares ([[WindowCheck]], [[AckCheck]], [[TimestampCheck]]), step 2 decides.
  */
class SegmentVerdict(
    val view: ProtocolView, windowCheck: WindowCheck, ackCheck: AckCheck, timestamps: TimestampCheck) extends Area {
  import view._
  import signals._
  import ackCheck.{ack, window}
  import timestamps.paws
  import windowCheck.{distance, position}

  val state = new s1.Area {
    private def is(state: SpinalEnumElement[TcpState.type]): Bool = before.state === state
    val synSent = insert(is(TcpState.synSent))
    val synReceived = insert(is(TcpState.synReceived))
    val closed = insert(is(TcpState.closed))
    /** The peer may send data. */
    val receiving =
      insert(Seq(TcpState.synReceived, TcpState.established, TcpState.finWait1, TcpState.finWait2).map(is).orR)
    val announced = insert(before.announced)
    val nobodyReads = insert(before.applicationClosed)
  }

  private val check = new s1.Area {
    val ours = insert(kind.segment && LIVE && word.readable)
    /** The connection knows the peer's sequence numbers, so the segment's can be checked. */
    val inSequence = insert(
      kind.segment && LIVE && word.readable && !state.synSent && !state.closed && !paws.missing)
    val acceptable = insert(position.inWindow && !paws.outdated)
    val wrongAck = insert(ack.beyond || ack.tooOld)
    /** By flags and number it is a plain ACK. */
    val plainAck = insert(
      FLAGS.ack && !FLAGS.rst && !FLAGS.syn && !ack.beyond && !ack.tooOld && !(state.synReceived && !ack.advances))
  }

  val segment = new s2.Area {
    val judged = insert(check.inSequence && check.acceptable)
    /** Nothing is wrong with it: its ACK, window, data and ECN bits count. */
    val ordinary = insert(judged && check.plainAck)
    val goodAck = insert(FLAGS.ack && ack.advances && !ack.beyond)
  }

  val handshake = new s2.Area {
    /** The peer has not received our SYN-ACK. */
    val synAgain = insert(
      check.inSequence && state.synReceived && position.startsWithSyn && FLAGS.syn && !FLAGS.ack && !FLAGS.rst)
    /** The SYN-ACK of a simultaneous open (RFC 9293 3.5, figure 7): its SYN lies below our window, yet it acknowledges
      * ours.
      */
    val simultaneousOpen = insert(
      check.inSequence && state.synReceived && state.announced && position.startsWithSyn && FLAGS.syn && !FLAGS.rst && segment.goodAck)
    /** The peer's SYN or SYN-ACK to our SYN. */
    val synInSynSent = insert(check.ours && state.synSent && FLAGS.syn && !FLAGS.rst && (!FLAGS.ack || segment.goodAck))
    /** The handshake is complete. */
    val connects = insert(synInSynSent && FLAGS.ack || segment.ordinary && state.synReceived || simultaneousOpen)
    private val badAck = FLAGS.ack && !FLAGS.rst && !segment.goodAck &&
      (check.ours && state.synSent || segment.judged && state.synReceived && !FLAGS.syn)
    /** It is answered by a RST with its acknowledgment number (RFC 9293 3.10.7.1, 3.10.7.3). */
    val refused = insert(badAck || check.ours && state.closed && FLAGS.ack && !FLAGS.rst)
  }
  /** The peer's SYN is taken: it sets all that is received. */
  val peerSyn = new s3.Area {
    val taken = insert(OPENING || handshake.synInSynSent)
  }

  val reset = new s2.Area {
    /** Its RST ends the connection. */
    val ends = insert(segment.judged && FLAGS.rst && position.startsExactly ||
      check.ours && state.synSent && FLAGS.rst && segment.goodAck)
  }

  val challenge = new s2.Area {
    private val unacceptable =
      check.inSequence && !check.acceptable && !FLAGS.rst && !handshake.synAgain
    /** It is answered by an ACK and otherwise ignored: unacceptable, or RFC 5961 3.2, 4.2 and 5.2. */
    val due = insert(
      unacceptable || segment.judged && FLAGS.rst && !position.startsExactly ||
        segment.judged && FLAGS.syn && !FLAGS.rst && !handshake.synAgain ||
        segment.judged && !FLAGS.rst && !FLAGS.syn && FLAGS.ack && check.wrongAck && !state.synReceived)
    /** Data that came before is always answered, because its ACK may have been lost. All else is answered within a
      * limit (RFC 5961 7).
      */
    val limited = insert(!(unacceptable && position.hasPayload && !FLAGS.syn))
  }

  /** The effect of a segment's ACK and window. */
  val effect = new s2.Area {
    val acknowledges = insert(
      segment.ordinary && ack.advances || handshake.synInSynSent && FLAGS.ack || handshake.simultaneousOpen)
    val acknowledgesFin = insert(segment.ordinary && ack.coversFin)
    val updatesWindow = insert(segment.ordinary && window.isNewer || handshake.synInSynSent)
    val raisesWindow = insert((segment.ordinary && window.isNewer || handshake.synInSynSent) && window.isLarger)
    /** A duplicate ACK (RFC 5681 2). */
    val duplicates = insert(
      segment.ordinary && ack.repeats && position.isEmpty && window.isSame && !ack.nothingOutstanding)
    /** The same with any data and window: with SACK the blocks decide. */
    val repeatsAck = insert(segment.ordinary && ack.repeats && !ack.nothingOutstanding)
  }

  /** The part of the payload and FIN that is accepted: new data, as far as there is space. */
  val data = new s2.Area {
    private val carries = segment.ordinary && !position.isEmpty
    /** It has something new, and there is space where that begins. A FIN takes no space. Nothing comes behind a FIN. */
    private val fits = carries && state.receiving && !position.isRepeated &&
      !(position.overruns && (!position.startsWithin || position.finKnown)) && !position.passesFin
    private val unwanted = state.nobodyReads && !position.payloadIsRepeated
    val accepted = insert(fits && !unwanted)
    val takesFin = insert(fits && !unwanted && FLAGS.fin && !position.overruns)
    /** Payload bytes that are dropped at the beginning and at the end. */
    val skip = insert(Mux(distance.start.msb, U(0, 14 bits) - distance.start.resize(14), U(0, 14 bits)))
    val cut = insert(Mux[UInt](position.overruns, position.excess, U(0, 14 bits)))
    /** It is for an application that has closed (RFC 1122 4.2.2.13). */
    val unwelcome = insert(fits && unwanted)
    /** None of its sequence space is taken: repeated, behind the FIN, or no space. */
    val rejected = insert(carries && !fits)
  }
}
