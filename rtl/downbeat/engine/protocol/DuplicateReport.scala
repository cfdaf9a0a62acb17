// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.wire.{NearNumber, SackBlock, SequenceNumber}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The first block of a SACK option that reports data which came twice (D-SACK, RFC 2883 4): a segment whose payload
  * lies below RCV.NXT, or one that is placed inside a range beyond it, which the second block then names. A segment that
  * brings something new is not reported, nor one further away than a receive buffer.
  */
class DuplicateReport(val view: ProtocolView, windowCheck: WindowCheck, placementCheck: PlacementCheck) extends Area {
  import view._
  import signals._
  import placementCheck.{arrival, order}
  import windowCheck.{distance, position}
  private val bits = config.receiveOffsetBits

  private val compare = new s0.Area {
    private val a = SEQUENCE.low(config.placedNumberBits)
    private val b = end.payload.low(config.placedNumberBits)
    private val ranges = before.reassembly.ranges
    val within = (0 until DownbeatConfig.ranges).map(i =>
      insert(order.filled(i) && (order.holdsBefore(i) || ranges(i).left === a) &&
        (order.holdsBehind(i) || ranges(i).right === b)))
  }
  private val judge = new s1.Area {
    val inRange = insert(arrival.stretches && compare.within.map(apply(_)).orR)
    val below = insert(kind.segment && LIVE && position.hasPayload && position.payloadIsRepeated && !FLAGS.syn &&
      !FLAGS.rst)
    /** It begins within a receive buffer below RCV.NXT. */
    val isNear = insert(distance.start(31 downto bits).andR && distance.start(bits - 1 downto 0).orR)
  }
  private val block = new s2.Area {
    val isReported = insert(before.selective && (judge.inRange || judge.below && judge.isNear))
  }

  /** The ranges to report, on step 5: behind the duplicate, if one came. */
  def reported(ranges: Vec[SackBlock]): Vec[SackBlock] = new s5.Area {
    val first = SackBlock(bits)
    first.valid := block.isReported && !RESET_DUE
    first.left := distance.start.resize(bits)
    first.right := distance.payloadStop.resize(bits)
    val blocks = Mux(first.valid, Vec(first +: ranges.init), ranges)
    DUPLICATE_BELOW := block.isReported && judge.below
  }.blocks
}
