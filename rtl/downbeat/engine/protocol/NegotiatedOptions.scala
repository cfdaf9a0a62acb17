// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import spinal.core._
import spinal.lib.misc.pipeline._

/** Options on which the two SYNs agree: segment size (RFC 6691), window scale (RFC 7323 2), SACK (RFC 2018 2).
  * [[Timestamps]] and [[CongestionEcho]] agree on their own.
  */
class NegotiatedOptions(val view: ProtocolView, verdict: SegmentVerdict, stateMachine: StateMachine) extends Area {
  import view._
  import signals._
  import stateMachine.{icmp, quoted}
  import verdict.peerSyn

  private val peer = new s1.Area {
    val mss = insert(Mux(OPTIONS.mssValid, OPTIONS.mss, U(config.assumedPeerMss, 16 bits)))
  }
  private val smaller = new s2.Area {
    val mss = insert(Mux[UInt](peer.mss > config.ownMss, U(config.ownMss, 16 bits), peer.mss))
  }
  private val agreed = new s3.Area {
    /** The MSS option does not count the bytes of other options (RFC 6691). */
    val size = insert(smaller.mss - Mux(OPTIONS.timestampValid && !kind.open, U(12, 16 bits), U(0, 16 bits)))
  }
  private val choose = new s4.Area {
    SEGMENT_SIZE := Mux[UInt](
      peerSyn.taken, agreed.size, Mux[UInt](icmp.narrows, quoted.segmentSize, before.segmentSize.resize(16)))
    SCALING := Mux(peerSyn.taken, OPTIONS.windowScaleValid && !kind.open, before.scaling)
    SELECTIVE := Mux(peerSyn.taken, OPTIONS.sackPermitted || kind.open, before.selective)
  }

  def keep(next: ProtocolState): Unit = new s5.Area {
    next.scaling := SCALING
    next.selective := SELECTIVE
    next.windowScale := Mux(peerSyn.taken, OPTIONS.windowScale, before.windowScale)
    next.segmentSize := SEGMENT_SIZE.resized
  }
}
