// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.{CloseReason, EventKind, TcpState}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The state after an event, and the reason if the connection ends. */
private case class Outcome() extends Bundle {
  val state = TcpState()
  val reason = CloseReason()

  def end(why: SpinalEnumElement[CloseReason.type]): Unit = {
    state := TcpState.closed
    reason := why
  }
}

/** The states of RFC 9293 3.3.2, and the reason of an end. Step 2 decides for all events but segments, step 3 for
  * segments.
  */
class StateMachine(val view: ProtocolView, verdict: SegmentVerdict, placementCheck: PlacementCheck,
    keepAlive: KeepAlive, lifetime: Lifetime) extends Area {
  import view._
  import signals._
  import placementCheck.{arrival, overlap}
  import verdict.{data, effect, handshake, reset}

  /** The state before the event. */
  private val state = new s2.Area {
    val closed = before.state === TcpState.closed
    val synSent = before.state === TcpState.synSent
    val timeWait = before.state === TcpState.timeWait
  }

  // ---- ICMP errors

  val quoted = new s0.Area {
    val fromUnacknowledged = insert(SEQUENCE.since(before.unacknowledged))
    /** The path's payload size does not count options (RFC 6691). */
    val segmentSize = insert(WINDOW_FIELD.pathPayload - Mux(before.timestamps.agreed, U(12, 16 bits), U(0, 16 bits)))
    val isHard = insert(WINDOW_FIELD.networkError.isHard)
  }
  private val belief = new s1.Area {
    /** The error is about a segment in flight, whose sequence number nobody else should know (RFC 5927 4.1). */
    val inFlight = insert(
      LIVE && (kind.unreachable || kind.tooBig) && quoted.fromUnacknowledged < bytes.outstanding)
    val isSmaller = insert(quoted.segmentSize < before.segmentSize)
    /** An error ends the connection in SYN-SENT only (RFC 5927 6). */
    val gone = insert(inFlight && kind.unreachable && quoted.isHard && before.state === TcpState.synSent)
  }
  val icmp = new s2.Area {
    /** The path takes no segments of this size (RFC 1191). The size never grows again. */
    val narrows = insert(belief.inFlight && kind.tooBig && belief.isSmaller && !state.synSent)
    /** The application gets a status. */
    val reported = insert(belief.inFlight && kind.unreachable && !state.closed)
    val ignored = insert((kind.unreachable || kind.tooBig) && !narrows && !reported)
  }

  // ---- abort, and close with unread data

  private val abandon = new s1.Area {
    /** Data was accepted and not read, in memory or on its way there (RFC 2525 2.17). */
    val hasUnread = insert(
      bytes.readable =/= before.reassembly.finReceived.asUInt.resize(32) || arrival.pending)
    val due = insert(LIVE && word.readable && before.state =/= TcpState.closed &&
      (kind.abort || MEMORY_ERROR && !kind.failed || kind.close && hasUnread && before.state =/= TcpState.timeWait))
  }
  val abort = new s2.Area {
    val sendsReset = insert(abandon.due && !state.synSent && !state.timeWait)
  }

  /** The application has closed a connection in TIME-WAIT: the directory's table goes on with it, the flow is free. No
    * segment does that, which may want an ACK.
    */
  private val retire = new s2.Area {
    RETIRES := LIVE && word.readable && state.timeWait && (before.applicationClosed || kind.close) &&
      lifetime.placements.complete && !kind.segment && !abandon.due
  }

  /** Two flips of a word, this stage's or another's, end the connection. Nothing is sent: the numbers may be wrong. */
  val memory = new s2.Area {
    private val reported = kind.failed && MEMORY_ERROR && !state.closed
    val ends = insert(LIVE && (!word.readable || reported))
  }

  // ---- the state after any event but a segment

  private val local = new s2.Area {
    val outcome = Payload(Outcome())
    outcome.state := before.state
    outcome.reason := before.reason
    when(overlap.reachesFin) {
      switch(before.state) {
        is(TcpState.established)(outcome.state := TcpState.closeWait)
        is(TcpState.finWait1)(outcome.state := TcpState.closing)
        is(TcpState.finWait2)(outcome.state := TcpState.timeWait)
      }
    }
    when(LIVE) {
      switch(apply(KIND)) {
        is(EventKind.shutdown, EventKind.close) {
          switch(before.state) {
            is(TcpState.established)(outcome.state := TcpState.finWait1)
            is(TcpState.closeWait)(outcome.state := TcpState.lastAck)
            is(TcpState.synSent)(when(kind.close)(outcome.end(CloseReason.aborted)))
          }
        }
        is(EventKind.timer) {
          when(event.expired && before.waiting)(outcome.end(CloseReason.finished))
          when(keepAlive.timeout.givesUp)(outcome.end(CloseReason.timedOut))
        }
        is(EventKind.failed)(when(!state.closed)(outcome.end(CloseReason.timedOut)))
      }
    }
    when(abandon.due) {
      outcome.end(CloseReason.aborted)
      when(MEMORY_ERROR)(outcome.reason := CloseReason.memoryError)
    }
    when(RETIRES)(outcome.end(CloseReason.finished))
    when(belief.gone)(outcome.end(CloseReason.unreachable))
    when(OPENING) {
      outcome.state := Mux(FRESH, TcpState.synReceived, TcpState.synSent)
      outcome.reason := CloseReason.none
    }
  }

  // ---- the state after a segment

  private val decide = new s3.Area {
    private val outcome = Outcome()
    outcome := local.outcome
    when(handshake.synInSynSent)(outcome.state := TcpState.synReceived)
    when(handshake.connects)(outcome.state := Mux(before.finishing, TcpState.finWait1, TcpState.established))
    when(effect.acknowledgesFin) {
      switch(before.state) {
        is(TcpState.finWait1)(outcome.state := TcpState.finWait2)
        is(TcpState.closing)(outcome.state := TcpState.timeWait)
        is(TcpState.lastAck)(outcome.end(CloseReason.finished))
      }
    }
    when(reset.ends) {
      when(before.state === TcpState.synSent || before.state === TcpState.synReceived)(
        outcome.end(CloseReason.refused)).otherwise {
        when(before.state =/= TcpState.timeWait)(
          outcome.end(CloseReason.reset)) // RFC 1337: a RST does not end TIME-WAIT
      }
    }
    when(data.unwelcome)(outcome.end(CloseReason.aborted))
    when(memory.ends)(outcome.end(CloseReason.memoryError))
    STATE := outcome.state
    REASON := outcome.reason
    ESTABLISHED := handshake.connects
  }
}
