// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The state of a policy that sends packet pairs of probes. */
case class PacketPairsState() extends Bundle {
  /** Pairs may go: the window began with two segments, or the first segment has gone alone. */
  val ready = Bool()
  /** The next segment is the second of its pair. */
  val second = Bool()
  /** Pairs that may still go back to back, to learn the gap that the path gives them. */
  val left = UInt(3 bits)
}

/** Begins the policy state of a policy that sends packet pairs. */
abstract class PairingState extends Bundle {
  /** The argument: pairs are inverted. */
  val inverted = Bool()
  val pairs = PacketPairsState()
}

/** Packet pairs of probes, one after the other: which segment is which, and what their ACKs report. A segment that is
  * not full is no probe. After such a segment, or after a loss, a new pair begins. An inverted pair, for a receiver that
  * delays ACKs, sends the later segment first.
  */
class PacketPairs[S <: PairingState](pipe: PolicyPipe, before: Payload[S]) extends Area {
  import pipe._
  private val kinds = CongestionEventKind

  private val judge = new s2.Area {
    private val sends = event.kind === kinds.sent
    private val completing = sends && event.sentProbe && before.pairs.second && !(before.inverted && event.sentAhead)
    val completes = insert(completing)
    val ended = insert(event.probe.ended)
    val measured = insert(event.probe.measured)
    val hasGap = insert(event.probe.arrivalGap.orR && !event.probe.arrivalGap.andR)
    val after = insert {
      val after = CombInit(before.pairs).allowOverride()
      when(sends) {
        after.ready := True
        after.second := event.sentProbe && (before.inverted ? event.sentAhead | !before.pairs.second)
      }
      when(completing && before.pairs.left.orR)(after.left := before.pairs.left - 1)
      when(event.isLoss)(after.second := False)
      when(event.kind === kinds.established) {
        after.ready := event.initialWindow(7 downto 1).orR
        after.second := False
        after.left := PacketPairs.tries
      }
      after
    }
  }
  /** This event sent the second segment of a pair. */
  val completes: Payload[Bool] = judge.completes
  /** This event's ACK ends a pair. */
  val ended: Payload[Bool] = judge.ended
  /** It ends a pair, and both its gaps are right. */
  val measured: Payload[Bool] = judge.measured
  /** The gap between the ACKs is known: neither zero nor all ones. */
  val hasGap: Payload[Bool] = judge.hasGap
  val after: Payload[PacketPairsState] = judge.after

  /** How the next segment leaves while `active`: `pause` after the pair before, or `gap` after the first of its own
    * pair, back to back unless `apart`. Both are ns with 16 fraction bits. All are on the last node.
    */
  def departure(active: Bool, pause: UInt, gap: UInt, apart: Bool): DeparturePlan = new s3.Area {
    val plan = CombInit(DeparturePlan.configured).allowOverride()
    plan.time := after.second ? gap.resize(DeparturePlan.timeBits) | pause.resize(DeparturePlan.timeBits)
    when(active) {
      plan.pace := (after.second && !apart) ? Pace.adjacent | Pace.apart
      plan.inverted := before.inverted
      plan.probe := True
      plan.begins := !after.second
      plan.minimumSegments := after.second ? U(0, 6 bits) | U(2, 6 bits)
    } otherwise (plan.time := 0)
  }.plan
}

object PacketPairs {
  /** A path is tried so often: the next pair if the first gives no gap. */
  val tries = 4
}
