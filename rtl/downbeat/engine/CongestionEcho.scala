// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import spinal.core._
import spinal.lib.misc.pipeline._

/** ECN of a connection (RFC 3168). */
case class CongestionEchoState() extends Bundle {
  /** Both have agreed; before the peer's SYN: we ask. */
  val capable = Bool()
  /** Data has come marked, and the peer has not yet said that it knows. */
  val echoing = Bool()
}

/** ECN: agreement (RFC 3168 6.1.1), and the receiver's echo of marks until CWR (6.1.3). Marks of what is not acceptable do not count
  * (6.1.5).
  */
class CongestionEcho(view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._

  private val flags = s2(FLAGS)
  /** A SYN that asks has ECE and CWR; a SYN-ACK that grants has ECE alone. */
  private val peerSets = flags.ece && (flags.cwr =/= (flags.ack && !s2(OPENING)))
  private val peerAgrees = s2.insert(peerSets)
  private val asks = s2.insert(s2(OPENING) ? s2(PARAMETERS).ecn | s2(before).congestionEcho.capable)
  s3(ECN_CAPABLE) := s3(asks) && (s3(peerAgrees) || s3(isOpen) || !s3(verdict.receivesSyn))

  private val takes = s3(verdict.ordinary) && s3(before).congestionEcho.capable
  s3(CONGESTION_ECHOED) := takes && s3(FLAGS).ece
  s3(ECHOES_CONGESTION) := !s3(verdict.receivesSyn) && ((takes && s3(LENGTH).orR) ?
    (s3(MARKED) || s3(before).congestionEcho.echoing && !s3(FLAGS).cwr) | s3(before).congestionEcho.echoing)

  val after = CongestionEchoState()
  after.capable := s5(ECN_CAPABLE)
  after.echoing := s5(ECHOES_CONGESTION)
}
