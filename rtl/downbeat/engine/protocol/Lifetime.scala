// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.TcpState
import spinal.core._
import spinal.lib.misc.pipeline._

/** The users of a connection: the application, from its announcement to its close, and the placements on their way to
  * memory. When nobody needs a closed connection, its flow is released.
  */
class Lifetime(val view: ProtocolView, verdict: SegmentVerdict, placementCheck: PlacementCheck) extends Area {
  import view._
  import signals._
  import placementCheck.arrival
  import verdict.{data, handshake}

  private val count = new s0.Area {
    val isZero = insert(!before.placing.orR)
    val isOne = insert(before.placing === 1)
  }
  val placements = new s1.Area {
    /** Nothing is on its way to memory after this event. */
    val complete = insert(Mux[Bool](arrival.comes, count.isOne, count.isZero))
  }
  val application = new s3.Area {
    val closed = insert(!OPENING && (before.applicationClosed || kind.close && LIVE || kind.abort && LIVE))
    val announced = insert(Mux(OPENING, !FRESH, before.announced || handshake.connects))
    val places = insert(data.accepted && PAYLOAD.held)
  }
  private val release = new s4.Area {
    LINGERS := STATE === TcpState.timeWait && before.state =/= TcpState.timeWait && application.closed
    RELEASE := LIVE && STATE === TcpState.closed && (application.closed || !application.announced) &&
      placements.complete && !RESET_DUE
    val placing = insert(Mux(
        OPENING,
        U(0, before.placing.getWidth bits),
        before.placing + application.places.asUInt - arrival.comes.asUInt))
  }

  /** A connection that a SYN made is announced, or ends unannounced. This happens once for each. */
  val handshakeOver = Bool()
  private val over = new s5.Area {
    handshakeOver := isValid && LIVE && !before.announced && (application.announced || RELEASE)
  }

  def keep(next: ProtocolState): Unit = new s5.Area {
    next.announced := application.announced
    next.applicationClosed := application.closed
    next.placing := release.placing
  }
}
