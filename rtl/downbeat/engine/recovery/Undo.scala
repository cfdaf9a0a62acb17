// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.messages.EventKind
import spinal.core._
import spinal.lib.misc.pipeline._

/** F-RTO after a timeout: it awaits the first ACK, or the second. */
object ForwardStep extends SpinalEnum {
  val none, first, second = newElement()
}

/** Evidence about the last reduction of the window. */
case class UndoState() extends Bundle {
  /** It may turn out to be spurious. */
  val possible = Bool()
  /** TSval at the reduction, low bits: what was sent again has this one or a later. */
  val stamp = UInt(16 bits)
  /** Segments sent again since, less those that came twice; all ones: more than are counted. */
  val resent = UInt(4 bits)
  val forward = ForwardStep()
}

/** Finds out that a reduction was spurious: nothing was lost.
  *
  *   - The first ACK of new data echoes a segment that was sent before anything was sent again (Eifel, RFC 3522).
  *   - All that was sent again came twice (D-SACK, RFC 3708).
  *   - After a timeout two ACKs of new data come, one after the other, although the first segment alone went again
  *     (F-RTO, RFC 5682 2.1). With the first one new data is sent in place of old, as if what is outstanding had left the
  *     network. Without new data, with a SACK block, or with a duplicate ACK next, all goes again from SND.UNA on.
  *
  * Congestion receives `undone` and gives back what the window was (RFC 4015 3.2).
  */
class Undo(val view: RecoveryView, tail: TailLossProbe) extends Area {
  import view._
  import signals._

  private val compare = new s0.Area {
    val sinceStamp = insert(OPTIONS.timestampEcho.resize(16) - before.undo.stamp) // signed
    val echoes = insert(TIMESTAMPED && OPTIONS.timestampValid)
    /** Bytes to `recover`, signed. */
    val toRecover = insert(before.recover.since(UNACKNOWLEDGED))
    /** The peer lacks something before what it holds. */
    val hasHole = insert(SELECTIVE && OPTIONS.sack(0).valid)
    val repeats = insert(event.isSegment && (DUPLICATE || SELECTIVE && REPEATED && OPTIONS.sack(0).valid))
  }
  private val judge = new s1.Area {
    private val first = before.undo.possible && event.isSegment && ADVANCED && compare.echoes && !ESTABLISHED
    val byEcho = insert(first && compare.sinceStamp.msb)
    /** It echoes what was sent again. */
    val refuted = insert(first && !compare.sinceStamp.msb && compare.sinceStamp.orR)
    val byDuplicates = insert(before.undo.possible && CAME_TWICE && before.undo.resent === 1)
    private def awaits(step: SpinalEnumElement[ForwardStep.type]) =
      before.undo.possible && before.undo.forward === step && event.isSegment
    val byForward = insert(awaits(ForwardStep.second) && ADVANCED)
    UNDONE := byEcho || byDuplicates || byForward
    /** SND.UNA is below `recover`. */
    val isBelow = insert(!compare.toRecover.msb && compare.toRecover.orR)
    /** RFC 5682 2.1 (2b): new data goes in place of old. */
    val advances = insert(awaits(ForwardStep.first) && ADVANCED && !refuted && !byEcho && !byDuplicates &&
      isBelow && tail.hasNew && !compare.hasHole)
    /** 2.1 (3a): it was a loss. */
    val fails = insert(awaits(ForwardStep.second) && compare.repeats)
    val over = insert(awaits(ForwardStep.first) && (ADVANCED || compare.repeats))
  }
  /** SND.NXT goes to SND.MAX, or back to SND.UNA. On step 1. */
  val advances: Payload[Bool] = judge.advances
  val fails: Payload[Bool] = judge.fails
  private val count = new s4.Area {
    private val more = event.isSent && RESENT && !before.undo.resent.andR
    private val less = CAME_TWICE && before.undo.resent.orR && !before.undo.resent.andR
    val resent = insert(before.undo.resent + more.asUInt - less.asUInt)
  }

  /** On step 5: the state after the event. `reduces`: a reduction that can be undone; `settles`: another one; `tries`: it
    * is a timeout's, and F-RTO begins.
    */
  def update(after: RecoveryState, reduces: Bool, settles: Bool, tries: Bool): Unit = new s5.Area {
    /** The steady policy's state of before is of no use to another policy. */
    private val chooses = (if (config.policiesChoose) KIND === EventKind.setPolicies else False) ||
      (if (config.hostStart) STARTS else False)
    after.undo.possible := !OPENING && !RESUMED && !before.recovery.noUndo && !chooses &&
      (reduces || before.undo.possible && !UNDONE && !judge.refuted && !settles)
    after.undo.stamp := Mux(reduces, TIMESTAMP_VALUE.resize(16), before.undo.stamp)
    after.undo.resent := Mux[UInt](reduces, U(0, 4 bits), count.resent)
    after.undo.forward := before.undo.forward
    when(judge.over)(after.undo.forward := ForwardStep.none)
    when(judge.advances)(after.undo.forward := ForwardStep.second)
    when(OPENING || RESUMED || UNDONE || fails || reduces || settles)(after.undo.forward := ForwardStep.none)
    when(tries)(after.undo.forward := ForwardStep.first)
    counts := after.undo.forward === ForwardStep.second && after.undo.possible && judge.isBelow
  }
  private val counts = Payload(Bool())
  /** Outstanding bytes that do not count against cwnd; on step 5. */
  val allowance: ForwardAllowance = ForwardAllowance(counts, compare.toRecover)
}
