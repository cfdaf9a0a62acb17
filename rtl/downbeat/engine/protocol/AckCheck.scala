// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** How a segment's ACK and window compare with what was sent and with the windows before: the fifth check of RFC 9293
  * 3.10.7.4, with the limits of RFC 5961 5.2. Distances are signed 32-bit values from SND.UNA unless named otherwise.
  */
class AckCheck(val view: ProtocolView, hole: UnsentHole) extends Area {
  import view._
  import signals._
  import WindowCheck.{isPositive, isZero}

  val distance = new s0.Area {
    val ack = insert(ACKNOWLEDGMENT.since(before.unacknowledged))
    val acknowledgeable = insert(hole.order.sentUpTo.since(before.unacknowledged))
    val ackFromWritten = insert(ACKNOWLEDGMENT.since(before.written))
    val sequenceFromWindow = insert(SEQUENCE.since(before.windowSequence)) // SEG.SEQ - SND.WL1
  }

  /** The peer's windows: the one of this segment, and those in bytes. */
  val windows = new s0.Area {
    /** The window of a SYN is never scaled, and scaling is known only behind it (RFC 7323 2.2). */
    val offered = insert {
      val window = PeerWindow()
      window.field := WINDOW_FIELD.window
      window.scaled := before.scaling && !FLAGS.syn
      window
    }
    val offeredBytes = insert(offered.bytes(before.windowScale))
    val sendBytes = insert(before.sendWindow.bytes(before.windowScale)) // SND.WND
    val largestBytes = insert(before.largestWindow.bytes(before.windowScale)) // MAX.SND.WND
  }

  val ack = new s1.Area {
    val advances = insert(isPositive(distance.ack))
    val repeats = insert(isZero(distance.ack))
    val beyond = insert(!distance.ack.msb && distance.acknowledgeable < distance.ack)
    val tooOld = insert(distance.ack.msb && (distance.ack + windows.largestBytes).msb)
    val nothingOutstanding = insert(isZero(bytes.outstanding))
    val coversFin = insert(before.finishing && distance.ackFromWritten === 1 && !distance.ack.msb)
  }

  val window = new s1.Area {
    /** An ACK below SND.UNA never changes the window (RFC 9293 3.10.7.4). SND.WL2 is never above SND.UNA, so it need
      * not be kept. An ACK that advances SND.UNA is new on a segment that was sent again too: with the window before it
      * the right edge would move.
      */
    val isNewer = insert(!distance.ack.msb && (!distance.sequenceFromWindow.msb || ack.advances))
    val isSame = insert(windows.offeredBytes === windows.sendBytes)
    val isLarger = insert(windows.largestBytes < windows.offeredBytes)
  }
}
