// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.transmit

import spinal.core._
import spinal.lib.misc.pipeline._

/** The segment that recovery wants to send again: from RETRANSMIT_OFFSET, at most RETRANSMIT_LIMIT bytes, one segment,
  * what has been written and what has been sent.
  */
class RetransmittedSegment(val view: TransmitView) extends Area {
  import view._
  import signals._
  private val limitBits = config.sendOffsetBits max 16

  val start = new s0.Area {
    val sequence = insert(UNACKNOWLEDGED + RETRANSMIT_OFFSET)
    val maxLength =
      insert(TransmitDecision.minimum(RETRANSMIT_LIMIT.resize(limitBits), SEGMENT_SIZE.resize(limitBits)).resize(16))
  }

  private val extent = new s1.Area {
    val written = insert(WRITTEN.since(start.sequence))
    val sent = insert(HIGHEST_SENT.since(start.sequence))
  }

  private val bound = new s2.Area {
    val known = insert(TransmitDecision.minimum(extent.written, extent.sent))
    val sentBeyondData = insert(HIGHEST_SENT.since(WRITTEN))
  }

  private val size = new s3.Area {
    val finSent = insert(bound.sentBeyondData === 1)
    val length = insert(TransmitDecision.minimum(bound.known, start.maxLength.resize(32)).resize(14))
  }
  val length: Payload[UInt] = size.length

  val end = new s4.Area {
    /** The FIN follows the segment's data. */
    val fin = insert(size.finSent && size.length.resize(32) === extent.written)
  }
}
