// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.recovery

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.wire.{NearNumber, SackBlock}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Inputs of the estimate, as they are after the event: the scoreboard, and recovery's state. `ranges` are the valid
  * ones first, ascending. `mayRetransmit` lets a lost segment go.
  */
case class LossEvidence(
    ranges: Payload[Vec[SackBlock]], highRxt: Payload[UInt], passed: Payload[UInt],
    recovering: Payload[Bool], mayRetransmit: Payload[Bool], duplicates: Payload[UInt],
    time: LossesByTime, probe: ProbeWanted, heldBefore: Payload[UInt], forward: ForwardAllowance)

/** Losses by time (RFC 8985 6): a number of segments does not make data lost (`waits`), all that is missing is lost
  * (`all`), and so is what is missing before `end`.
  */
case class LossesByTime(waits: Payload[Bool], all: Payload[Bool], end: Payload[NearNumber])

/** A tail loss probe is to be sent: the last segment again, or new data whatever cwnd. */
case class ProbeWanted(again: Payload[Bool], next: Payload[Bool])

/** Outstanding bytes that F-RTO takes for delivered, if it `counts`. */
case class ForwardAllowance(counts: Payload[Bool], bytes: Payload[UInt])

/** Says what the scoreboard means for sending: what is lost and not sent again (RFC 6675 4), and how many bytes have
  * left the network.
  *
  * Data below a range is lost when more than two segments' worth of bytes, or three ranges, are held from that range
  * on; so is data that [[Rack]] finds lost, also beyond the ranges. To the window, what the peer lacks counts as in the
  * network, lost or not, so a retransmission changes nothing; to PRR, what is lost and not sent again does not (`pipe`).
  *
  * It works beside measure and congestion, on nodes from the end of recovery to the start of transmit.
  */
class LossEstimate(config: DownbeatConfig, signals: Signals, evidence: LossEvidence, nodes: Seq[Node]) extends Area {
  import evidence._
  import signals._
  private val bits = config.sendOffsetBits
  private val count = DownbeatConfig.ranges
  private val Seq(c0, c1, c2, c3, c4, c5, c6, c7) = nodes.take(8)

  /** How the ranges lie to HighRxt. */
  private val compare = new c0.Area {
    val lengths = insert(Vec(ranges.map(range => Mux(range.valid, range.right - range.left, U(0, bits bits)))))
    /** The range begins beyond HighRxt. */
    val beyond = insert(B(ranges.map(range => range.valid && highRxt < range.left)))
    /** HighRxt is in the range. */
    val within = insert(B(ranges.map(range => range.valid && !(highRxt < range.left) && highRxt < range.right)))
  }

  private val tail = new c0.Area {
    /** A full segment, and the FIN behind it. */
    val size = insert(SEGMENT_SIZE +^ (HIGHEST_SENT.since(WRITTEN) === 1).asUInt)
  }

  private val locate = new c1.Area {
    val lower = insert(compare.lengths(0) + compare.lengths(1))
    val upper = insert(compare.lengths(2) + compare.lengths(3))
    /** The offset of the first lost byte, and the range behind it. */
    val from = insert(Mux[UInt](compare.within.orR, MuxOH.or(compare.within, ranges.map(_.right)), highRxt))
    val firstBeyond = insert(OHMasking.first(apply(compare.beyond)))
    val threshold = insert(SEGMENT_SIZE << 1)
    val lostBytes = insert(time.end.since(UNACKNOWLEDGED).resize(bits))
    val top = insert(Rack.top(ranges.map(_.right), ranges.map(_.valid)))
    private val beforeLast = OUTSTANDING.resize(bits max 17) -^ tail.size.resize(bits max 17)
    /** The first byte of the last segment. */
    val last = insert(Mux(beforeLast.msb, U(0, bits bits), beforeLast.resize(bits)))
  }

  private val sum = new c2.Area {
    /** Bytes held from each range on. */
    val held = insert(Vec(locate.lower + locate.upper, compare.lengths(1) + locate.upper, apply(locate.upper),
        compare.lengths(3)))
    /** Data beyond the ranges is lost. */
    val tailIsLost = insert(locate.top < locate.lostBytes)
    val limit =
      insert(Mux[UInt](locate.firstBeyond.orR, MuxOH.or(locate.firstBeyond, ranges.map(_.left)), locate.lostBytes))
    val byTime = insert(B(ranges.map(range => time.all || range.left < locate.lostBytes)))
  }

  private val judge = new c3.Area {
    /** Data below the range is lost. */
    val lost = insert(B((0 until count).map { i =>
      val three = if (i + 2 < count) ranges(i + 2).valid else False
      ranges(i).valid && (!time.waits && (three || locate.threshold < sum.held(i)) || sum.byTime(i))
    }))
    val span = insert(sum.limit - locate.from)
    val arrived = insert(sum.held(0) + passed)
    val acked = insert(ACKED.resize(bits) -^ heldBefore) // signed
  }

  private val bound = new c4.Area {
    private val lastLost = OHMasking.last(apply(judge.lost))
    val lostTo = insert(Mux[UInt](sum.tailIsLost, locate.lostBytes, MuxOH.or(lastLost, ranges.map(_.left))))
    DELIVERED := judge.acked.asSInt.resize(bits + 2) + judge.arrived.resize(bits + 2).asSInt
    /** Bytes held from the first lost hole that was not sent again on, and from the last lost hole on. */
    val heldFrom = insert(MuxOH.or(apply(locate.firstBeyond), sum.held))
    val heldBeyond = insert(Mux[UInt](sum.tailIsLost, U(0, widthOf(sum.held(0)) bits), MuxOH.or(lastLost, sum.held)))
  }

  private val decide = new c5.Area {
    val waits = insert(locate.from < bound.lostTo)
    val lostSpan = insert(bound.lostTo - locate.from)
    val heldWithin = insert(bound.heldFrom - bound.heldBeyond)
    val missing = insert(OUTSTANDING.resize(bits) - judge.arrived)
    /** Limited transmit (RFC 3042): a segment for each of the first two duplicates. */
    val duplicateBytes = insert(
      Mux(duplicates(1), SEGMENT_SIZE << 1, Mux(duplicates(0), SEGMENT_SIZE.resize(17), U(0, 17 bits))))
    val arrived =
      insert(judge.arrived + Mux[UInt](probe.next, SEGMENT_SIZE, U(0, 16 bits)).resize(widthOf(judge.arrived)))
  }

  private val output = new c6.Area {
    RETRANSMIT_LOST := recovering && mayRetransmit && decide.waits || probe.again
    WINDOW_ALLOWANCE := decide.arrived.resized
    when(!SELECTIVE)(WINDOW_ALLOWANCE := Mux(recovering, U(0, config.windowAllowanceBits bits),
      decide.duplicateBytes.resized))
    when(forward.counts)(WINDOW_ALLOWANCE := forward.bytes.resized)
    RETRANSMIT_OFFSET :=
      Mux[UInt](RETRANSMIT, U(0, bits bits), Mux[UInt](probe.again, locate.last, locate.from))
    private val toFirst = Mux(ranges(0).valid, ranges(0).left, U((BigInt(1) << bits) - 1, bits bits))
    RETRANSMIT_LIMIT :=
      Mux[UInt](RETRANSMIT, toFirst, Mux[UInt](probe.again, U((BigInt(1) << bits) - 1, bits bits), judge.span))
    LOST := Mux[UInt](decide.waits, decide.lostSpan - decide.heldWithin, U(0, bits bits))
  }
  private val flight = new c7.Area {
    PIPE := decide.missing - LOST
  }
}
