// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.wire.SackBlock
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** What the scoreboard means for sending: what is lost and not sent again (RFC 6675 4), and bytes that are in the network no more.
  *
  * Data is lost below a range when more than two segments' worth of bytes, or three ranges, are held from that range on. What the peer lacks
  * counts as in the network, lost or not, so that sending it again, where `mayRepeat` allows, changes nothing. It works while measure and
  * congestion do, on nodes from the end of recovery to the begin of transmit. `ranges` are the valid ones first, ascending.
  */
class LossEstimate(
    config: DownbeatConfig, signals: Signals, ranges: Payload[Vec[SackBlock]], highRxt: Payload[UInt], passed: Payload[UInt],
    recovering: Payload[Bool], mayRepeat: Payload[Bool], duplicates: Payload[UInt], nodes: Seq[Node])
    extends Area {
  import signals._
  private val bits = config.sendOffsetBits
  private val count = DownbeatConfig.ranges
  private val Seq(c0, c1, c2, c3, c4, c5, c6) = nodes.take(7)

  private val lengths = c0.insert(Vec(c0(ranges).map(range => range.valid ? (range.right - range.left) | U(0, bits bits))))
  /** It begins beyond what was sent again; what was sent again ends in it. */
  private val beyond = c0.insert(B(c0(ranges).map(range => range.valid && c0(highRxt) < range.left)))
  private val within = c0.insert(B(c0(ranges).map(range => range.valid && !(c0(highRxt) < range.left) && c0(highRxt) < range.right)))

  // Held from each range on.
  private val lower = c1.insert(c1(lengths)(0) + c1(lengths)(1))
  private val upper = c1.insert(c1(lengths)(2) + c1(lengths)(3))
  /** Where the first lost byte would be, and the range behind it. */
  private val from = c1.insert(c1(within).orR ? MuxOH.or(c1(within), c1(ranges).map(_.right)) | c1(highRxt))
  private val firstBeyond = c1.insert(OHMasking.first(c1(beyond)))
  private val threshold = c1.insert(c1(SEGMENT_SIZE) << 1)

  private val held = c2.insert(Vec(
    c2(lower) + c2(upper), c2(lengths)(1) + c2(upper), c2(upper), c2(lengths)(3)))
  private val limit = c2.insert(MuxOH.or(c2(firstBeyond), c2(ranges).map(_.left)))

  private val lost = c3.insert(B((0 until count).map { i =>
    val three = if (i + 2 < count) c3(ranges)(i + 2).valid else False
    c3(ranges)(i).valid && (three || c3(threshold) < c3(held)(i))
  }))
  private val span = c3.insert(c3(limit) - c3(from))
  private val arrived = c3.insert(c3(held)(0) + c3(passed))

  private val lastLost = OHMasking.last(c4(lost))
  private val lostTo = c4.insert(MuxOH.or(lastLost, c4(ranges).map(_.left)))

  private val waits = c5.insert(c5(from) < c5(lostTo))
  /** Limited transmit (RFC 3042): a segment for each of the first two duplicates. */
  private val duplicateBytes = c5.insert(
    c5(duplicates)(1) ? (c5(SEGMENT_SIZE) << 1) | (c5(duplicates)(0) ? c5(SEGMENT_SIZE).resize(17) | U(0, 17 bits)))

  c6(RETRANSMIT_LOST) := c6(recovering) && c6(mayRepeat) && c6(waits)
  c6(WINDOW_ALLOWANCE) := c6(arrived).resized
  when(!c6(SELECTIVE))(c6(WINDOW_ALLOWANCE) := c6(recovering) ? U(0, config.windowAllowanceBits bits) | c6(duplicateBytes).resized)
  c6(RETRANSMIT_OFFSET) := c6(RETRANSMIT) ? U(0, bits bits) | c6(from)
  private val toFirst = c6(ranges)(0).valid ? c6(ranges)(0).left | U((BigInt(1) << bits) - 1, bits bits)
  c6(RETRANSMIT_LIMIT) := c6(RETRANSMIT) ? toFirst | c6(span)
}
