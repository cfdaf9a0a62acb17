// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** What a policy remembers to send packet pairs of probes: 5 bits. */
case class PacketPairsState() extends Bundle {
  /** Pairs may go: the window began with two segments, or the first has gone alone. */
  val ready = Bool()
  /** The next segment is the second of its pair. */
  val second = Bool()
  /** Pairs that may still go back to back, to learn the gap that the path gives them. */
  val left = UInt(3 bits)
}

/** Packet pairs of probes, one behind the other: which segment is which, and what their ACKs tell. A segment that is not full is no probe;
  * after it, or after a loss, a pair begins anew. An inverted pair, for a receiver that delays ACKs, sends its second half first.
  *
  * Worked out on the last node but one; `before` and `inverted` are of that node.
  */
class PacketPairs(pipe: PolicyPipe, before: PacketPairsState, inverted: Bool) extends Area {
  private val Seq(_, _, choose, answer) = pipe.nodes
  private val event = choose(pipe.event)
  private val kinds = CongestionEventKind
  private val sends = event.kind === kinds.sent
  private val completing = sends && event.sentProbe && before.second && !(inverted && event.sentAhead)

  /** This event sent the second segment of a pair. */
  val completes: Payload[Bool] = choose.insert(completing)
  /** This event's ACK ends a pair. */
  val ended: Payload[Bool] = choose.insert(event.probe.answered && !event.probe.begins)
  /** And both its gaps are right. */
  val measured: Payload[Bool] = choose.insert(event.probe.answered && !event.probe.begins && !event.probe.disturbed)
  /** And the gap between the ACKs is one. */
  val tells: Payload[Bool] = choose.insert(event.probe.arrivalGap.orR && !event.probe.arrivalGap.andR)

  val after: Payload[PacketPairsState] = choose.insert {
    val after = CombInit(before).allowOverride()
    when(sends) {
      after.ready := True
      after.second := event.sentProbe && (inverted ? event.sentAhead | !before.second)
    }
    when(completing && before.left.orR)(after.left := before.left - 1)
    when(event.kind === kinds.loss || event.kind === kinds.timeout)(after.second := False)
    when(event.kind === kinds.established) {
      after.ready := event.initialWindow(7 downto 1).orR
      after.second := False
      after.left := PacketPairs.tries
    }
    after
  }

  /** On the last node, how the next segment leaves while `active`: `pause` behind the pair before, or `gap` behind its own first; both ns with 16
    * fraction bits. Not `apart`: back to back.
    */
  def departure(active: Bool, inverted: Bool, pause: UInt, gap: UInt, apart: Bool): DeparturePlan = {
    val second = answer(after).second
    val departure = CombInit(DeparturePlan.configured).allowOverride()
    departure.time := second ? gap.resize(DeparturePlan.timeBits) | pause.resize(DeparturePlan.timeBits)
    when(active) {
      departure.pace := (second && !apart) ? Pace.adjacent | Pace.apart
      departure.inverted := inverted
      departure.probe := True
      departure.begins := !second
      departure.minimumSegments := second ? U(0, 6 bits) | U(2, 6 bits)
    } otherwise (departure.time := 0)
    departure
  }
}

object PacketPairs {
  /** A path is tried so often: the next pair if the first tells nothing. */
  val tries = 4
}
