// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The position of a segment in the receive window: the first check of RFC 9293 3.10.7.4.
  *
  * RCV.NXT counts what is in memory in order. The window ends at the edge that was last sent to the peer. Distances are
  * signed 32-bit values from RCV.NXT.
  */
class WindowCheck(val view: ProtocolView) extends Area {
  import view._
  import signals._
  import WindowCheck._

  val distance = new s0.Area {
    val start = insert(SEQUENCE.since(before.received))
    val stop = insert(end.sequence.since(before.received))
    val payloadStop = insert(end.payload.since(before.received))
    /** RCV.WND. */
    val window = insert(before.acknowledgments.edge.since(before.received))
    val windowIsZero = insert(before.acknowledgments.edge.isAt(before.received))
    val startsExpected = insert(before.reassembly.expected.isAt(SEQUENCE))
    val passesFin = insert(before.reassembly.finSequence.isBefore(end.payload))
  }

  val position = new s1.Area {
    val startsAhead = insert(isPositive(distance.start))
    /** All of its sequence space has come before; all of its payload has. */
    val isRepeated = insert(distance.stop.msb || isZero(distance.stop))
    val payloadIsRepeated = insert(distance.payloadStop.msb || isZero(distance.payloadStop))
    /** It goes beyond the window's right edge, by `excess` bytes. */
    val overruns = insert(distance.window.asSInt < distance.payloadStop.asSInt)
    val excess = insert((distance.payloadStop - distance.window).resize(14))
    val startsWithin = insert(distance.start.asSInt < distance.window.asSInt && !distance.windowIsZero)
    /** It starts behind all that came in order. Data on its way to memory counts too, because a RST may follow data at
      * once.
      */
    val startsExactly = insert(isZero(distance.start) || distance.startsExpected)
    /** Its SYN is the one before RCV.NXT. */
    val startsWithSyn = insert(distance.start.andR)
    /** A peer whose probe of our shut window was refused counts that byte: ACK, URG and RST are looked at nevertheless
      * (RFC 9293 3.10.7.4, first).
      */
    private val behindProbe = distance.windowIsZero && distance.start === 1
    private val touches = !(startsAhead && distance.window.asSInt < distance.start.asSInt) && !distance.stop.msb
    /** Part of it lies in the window or at its edges, or a RST begins in the window (RFC 5961 3.2): only then do its RST,
      * SYN and ACK count.
      */
    val inWindow = insert(
      touches && (!FLAGS.rst || startsExactly || startsAhead && startsWithin) || behindProbe)
    val isEmpty = insert(isZero(extent.span))
    val hasPayload = insert(LENGTH.orR)
    val finKnown = insert(before.reassembly.finKnown)
    val passesFin = insert(before.reassembly.finKnown && distance.passesFin)
  }
}

object WindowCheck {
  def isZero(distance: UInt): Bool = !distance.orR
  def isPositive(distance: UInt): Bool = !distance.msb && !isZero(distance)
}
