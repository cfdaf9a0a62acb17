// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import spinal.core._
import spinal.lib.misc.pipeline._

/** Evidence about the last reduction of the window. */
case class UndoState() extends Bundle {
  /** It may turn out to be spurious. */
  val possible = Bool()
  /** TSval at the reduction, low bits: what was sent again has this one or a later. */
  val stamp = UInt(16 bits)
  /** Segments sent again since, less those that came twice; all ones: more than are counted. */
  val resent = UInt(4 bits)
}

/** Finds out that a reduction was spurious: nothing was lost.
  *
  *   - The first ACK of new data echoes a segment that was sent before anything was sent again (Eifel, RFC 3522).
  *   - All that was sent again came twice (D-SACK, RFC 3708).
  *
  * Congestion receives `undone` and gives back what the window was (RFC 4015 3.2).
  */
class Undo(val view: RecoveryView) extends Area {
  import view._
  import signals._

  private val compare = new s0.Area {
    val sinceStamp = insert(OPTIONS.timestampEcho.resize(16) - before.undo.stamp) // signed
    val echoes = insert(TIMESTAMPED && OPTIONS.timestampValid)
  }
  private val judge = new s1.Area {
    private val first = before.undo.possible && event.isSegment && ADVANCED && compare.echoes && !ESTABLISHED
    val byEcho = insert(first && compare.sinceStamp.msb)
    /** It echoes what was sent again. */
    val refuted = insert(first && !compare.sinceStamp.msb && compare.sinceStamp.orR)
    val byDuplicates = insert(before.undo.possible && event.duplicateSack && before.undo.resent === 1)
    UNDONE := byEcho || byDuplicates
  }
  private val count = new s4.Area {
    private val more = event.isSent && RESENT && !before.undo.resent.andR
    private val less = event.duplicateSack && before.undo.resent.orR && !before.undo.resent.andR
    val resent = insert(before.undo.resent + more.asUInt - less.asUInt)
  }

  /** On step 5: the state after the event. `reduces`: a reduction that can be undone; `settles`: another one. */
  def update(after: RecoveryState, reduces: Bool, settles: Bool): Unit = new s5.Area {
    after.undo.possible := !OPENING && !RESUMED && !before.recovery.noUndo &&
      (reduces || before.undo.possible && !UNDONE && !judge.refuted && !settles)
    after.undo.stamp := Mux(reduces, TIMESTAMP_VALUE.resize(16), before.undo.stamp)
    after.undo.resent := Mux[UInt](reduces, U(0, 4 bits), count.resent)
  }
}
