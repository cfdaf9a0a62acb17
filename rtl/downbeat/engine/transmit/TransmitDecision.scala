// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import downbeat.messages.TcpState
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Decides whether a flow may send and what its next segment is, on steps 0 to 4 of transmit.
  *
  * In order of preference: recovery's retransmission, SYN, new data, FIN, and a probe when the timer has expired.
  * New data is
  *   - a full segment;
  *   - or all that is left, which waits for what is outstanding (Nagle, RFC 9293 3.7.4) unless the connection has
  *     `noDelay` or ends with it;
  *   - or what fits, if that is half of the largest window that the peer has offered (RFC 9293 3.8.6.2.1).
  *
  * A policy may invert a pair of full segments: the second goes first, and SND.NXT stays before the first until that
  * has gone. A policy may also hold new data until the window has space for `minimumSegments`. In a recovery with PRR
  * the bytes delivered count in place of cwnd ([[ProportionalRate]]).
  */
class TransmitDecision(val view: TransmitView, rate: ProportionalRate) extends Area {
  import TransmitDecision._
  import view._
  import signals._

  /** Which segment is next. */
  val origin = new s0.Area {
    /** SND.NXT - SND.UNA, signed. */
    val sentTo = insert(before.nextSend.since(UNACKNOWLEDGED))
    /** SND.NXT goes back to SND.UNA. */
    val restarts = insert(OPENING || REWIND)
    /** The pair's second half, at SND.NXT, is still to go. */
    val halfWay = insert(if (config.policiesPace) before.inverted && !OPENING && !REWIND else False)
    val inSyn = insert(STATE === TcpState.synSent || STATE === TcpState.synReceived)
    val inData = insert(
      Seq(TcpState.established, TcpState.closeWait, TcpState.finWait1, TcpState.closing, TcpState.lastAck).map(
        STATE === _).orR)
  }

  /** SND.NXT, and what each limit allows. */
  val position = new s1.Area {
    val inOrder = insert(Mux[UInt](FORWARD && !origin.halfWay, OUTSTANDING,
        Mux[UInt](origin.restarts || origin.sentTo.msb, U(0, 32 bits), origin.sentTo)))
    /** SND.NXT, not below SND.UNA. */
    val next = insert(UNACKNOWLEDGED + inOrder)
    /** Bytes in flight. */
    val used = insert(inOrder + Mux[UInt](origin.halfWay, SEGMENT_SIZE, U(0, 16 bits)))
    val pairSize = insert((SEGMENT_SIZE << 1).resize(18))
    /** Bytes in flight that the congestion window allows: cwnd and what has left the network. */
    val congestionWindow = insert(WINDOW.cwnd(47 downto 16) + WINDOW_ALLOWANCE.resize(32))
    /** The congestion window is narrower than the peer's. This does not wait for the sum above. */
    val congestionLimits =
      insert((signed(WINDOW.cwnd(47 downto 16)) + signed(WINDOW_ALLOWANCE) - signed(SEND_WINDOW)).msb && !PROPORTIONAL)
    /** A probe takes at least one byte (RFC 9293 3.8.6.1). */
    val probeLimit = insert(Mux(SEND_WINDOW.orR, minimum(SEND_WINDOW, U(16383, 32 bits)).resize(14), U(1, 14 bits)))
    val isShut = insert(!SEND_WINDOW.orR)
    val probing = insert((before.probing || PROBE) && !OPENING && !event.isSent)
    /** The policy wants space for so much. */
    val minimumSize = insert(DEPARTURE.minimumSegments * SEGMENT_SIZE.resize(14))
  }

  /** Space in the window, and data left to send. */
  val space = new s2.Area {
    /** The segment at SND.NXT has been sent before. */
    val again = insert(position.next.isBefore(HIGHEST_SENT) && !origin.halfWay)
    val idle = insert(!position.used.orR)
    private val window = Mux[UInt](position.congestionLimits, position.congestionWindow, SEND_WINDOW)
    /** Signed. */
    val free = insert(window.resize(33).asSInt - position.used.resize(33).asSInt)
    val freeAtPeer = insert(SEND_WINDOW.resize(33).asSInt - position.used.resize(33).asSInt)
    /** Unsent bytes; all ones once FIN is sent. */
    val left = insert(WRITTEN.since(position.next))
    val maxProbe = insert(minimum(position.probeLimit, SEGMENT_SIZE.resize(14)))
    val secondOfPair = insert(position.next + SEGMENT_SIZE)
    val behindPair = insert(position.next + position.pairSize)
  }

  /** The segment's size, and whether it fits. */
  val fit = new s3.Area {
    private val nothingLeft = space.left.msb // FIN is sent
    val full = insert(SEGMENT_SIZE.resize(32) < space.left)
    /** More than a segment is left. */
    val more = insert(!nothingLeft && SEGMENT_SIZE.resize(32) < space.left)
    val segment = insert(Mux(SEGMENT_SIZE.resize(32) < space.left, SEGMENT_SIZE.resize(14), space.left.resize(14)))
    val probeLength = insert(minimum(space.left, space.maxProbe.resize(32)).resize(14))
    val hasData = insert(!nothingLeft && space.left.orR)
    val hasFin = insert(!nothingLeft && FINISHING)
    val synDue = insert(origin.inSyn && position.next.value === UNACKNOWLEDGED.value)
    val fitsFull = insert(!(space.free < signed(SEGMENT_SIZE.resize(14))))
    val fitsRest = insert(!(space.free < signed(space.left)))
    /** Half of the peer's largest window counts as a segment. */
    val fitsPart = insert(!(space.free < signed(LARGEST_WINDOW(30 downto 1))) && space.free > 0)
    /** A FIN behind all data is not held by cwnd: it takes no buffer on the path, and the peer can finish. */
    val fitsFin = insert(Mux[Bool](space.left.orR, signed(space.left) < space.free, space.freeAtPeer > 0))
    val mayBeSmall =
      insert(before.noDelay || space.idle || FINISHING || space.again || space.left === SEGMENT_SIZE.resize(32))
    /** Both halves of a pair are there, and the peer's window takes them. */
    val takesPair = insert(
      !(space.left < position.pairSize) && !space.left.msb && !(space.freeAtPeer < signed(position.pairSize)))
    val lacksSpace = insert(space.free < signed(position.minimumSize) && !(space.left < position.minimumSize))
  }

  /** The kind and length of the segment that the connection may send. */
  val decide = new s4.Area {
    import fit._
    import origin.{halfWay, inData}
    import space.again
    /** A pair's first half goes, a segment beyond SND.NXT. */
    val inverts = insert(DEPARTURE.inverted && takesPair && !halfWay && !again)
    /** New data waits until the window has the policy's space. */
    val waits = insert(lacksSpace && !space.idle && !halfWay && !again)

    val retransmits = insert(inData && (RETRANSMIT || RETRANSMIT_LOST && (rate.permits || SCOREBOARD_FULL)))
    private val mayBeNew = inData && hasData && !waits && (rate.permits || halfWay)
    val sendsWhole = insert(mayBeNew && Mux[Bool](full, fitsFull, fitsRest && mayBeSmall))
    val sendsPart = insert(mayBeNew && fitsPart && !Mux[Bool](full, fitsFull, fitsRest))
    val sendsData = insert(sendsWhole || sendsPart)
    val sendsFin = insert(inData && hasFin && !more && fitsFin)
    private val probes = position.probing && inData && (hasData || hasFin)
    val wants = insert(retransmits || synDue || sendsData || sendsFin || probes)
    val granted = insert(event.isGrant && wants)
    /** It can only be a probe of a shut window. */
    val probesShut = insert(position.isShut && !retransmits && !synDue)
    /** Bytes of new data. */
    val length = insert(Mux[UInt](sendsWhole, segment, Mux[UInt](sendsPart, space.free.asUInt.resize(14), probeLength)))
    /** The step of SND.NXT, but for a FIN behind data. */
    val advance = insert(Mux[UInt](synDue || !hasData, U(1, 14 bits), length))
    val advancesFin = insert(!synDue && hasData && sendsWhole && sendsFin)
    val isFull = insert(segment === SEGMENT_SIZE.resize(14))
    val endsData = insert(!more || halfWay && space.left === position.pairSize.resize(32))
  }
}

object TransmitDecision {
  def minimum(a: UInt, b: UInt): UInt = Mux(a < b, a, b)
  def signed(length: UInt): SInt = length.resize(33).asSInt
}
