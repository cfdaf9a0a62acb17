// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import spinal.core._
import spinal.lib.misc.pipeline._

/** A connection's state of ECN (RFC 3168). */
case class CongestionEchoState() extends Bundle {
  /** Both ends have agreed on ECN. Before the peer's SYN: we request it. */
  val capable = Bool()
  /** Marked data has come, and the peer has not sent CWR since. */
  val echoing = Bool()
}

/** ECN: the agreement (RFC 3168 6.1.1), and the receiver's ECE, which answers a mark until CWR comes (6.1.3). A mark on
  * an unacceptable segment does not count (6.1.5).
  */
class CongestionEcho(val view: ProtocolView, verdict: SegmentVerdict) extends Area {
  import view._
  import signals._
  import verdict.{peerSyn, segment}

  private val request = new s2.Area {
    /** A SYN that requests ECN has ECE and CWR. A SYN-ACK that agrees has ECE alone. */
    val peerAgrees = insert(FLAGS.ece && (FLAGS.cwr =/= (FLAGS.ack && !OPENING)))
    val ours = insert(Mux(OPENING, PARAMETERS.ecn, before.congestionEcho.capable))
  }
  private val agreement = new s3.Area {
    ECN_CAPABLE := request.ours && (request.peerAgrees || kind.open || !peerSyn.taken)
  }
  private val echo = new s3.Area {
    private val counts = segment.ordinary && before.congestionEcho.capable
    CONGESTION_ECHOED := counts && FLAGS.ece
    ECHOES_CONGESTION := !peerSyn.taken && Mux(
      counts && LENGTH.orR,
      MARKED || before.congestionEcho.echoing && !FLAGS.cwr,
      before.congestionEcho.echoing)
  }

  val after = CongestionEchoState()
  private val update = new s5.Area {
    after.capable := ECN_CAPABLE
    after.echoing := ECHOES_CONGESTION
  }
}
