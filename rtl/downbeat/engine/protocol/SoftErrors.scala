// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.messages.{FlowStatus, NetworkError, TcpState}
import spinal.core._
import spinal.lib.misc.pipeline._

/** A connection's state of errors that did not end it. */
case class SoftErrorState() extends Bundle {
  val error = NetworkError() // the newest
  val errors = UInt(2 bits) // their number modulo 4
  val repeats = UInt(2 bits) // retransmissions of the oldest segment; three means three or more
}

/** Errors that the application hears of although the connection goes on (RFC 9293 3.9.1.8): ICMP errors, and R1, the
  * third retransmission of one segment (3.8.3). Probes of a closed window do not count, because they are answered.
  */
class SoftErrors(val view: ProtocolView, verdict: SegmentVerdict, stateMachine: StateMachine) extends Area {
  import view._
  import signals._
  import stateMachine.icmp
  import verdict.effect

  private val retransmission = new s0.Area {
    val ofOldest = insert(SEQUENCE.value === before.unacknowledged.value)
    val mayArrive = insert(before.sendWindow.field.orR || before.state === TcpState.synSent)
    val error = insert(WINDOW_FIELD.networkError)
  }
  private val repeat = new s2.Area {
    val counts =
      insert(RESENT && retransmission.ofOldest && retransmission.mayArrive && !before.softErrors.repeats.andR)
  }
  val report = new s3.Area {
    val repeats = insert(
      Mux(OPENING || effect.acknowledges, U(0, 2 bits), before.softErrors.repeats + repeat.counts.asUInt))
    /** The application gets a status. */
    val due = insert(icmp.reported || repeat.counts && before.softErrors.repeats === 2)
  }

  val after = SoftErrorState()
  private val update = new s5.Area {
    after.error := Mux[NetworkError](icmp.reported, retransmission.error, before.softErrors.error)
    after.errors := before.softErrors.errors + icmp.reported.asUInt
    when(OPENING) {
      after.error.assignFromBits(B(0, widthOf(after.error) bits))
      after.errors := 0
    }
    after.repeats := report.repeats
  }

  def show(status: FlowStatus): Unit = new s5.Area {
    status.error := after.error
    status.errors := after.errors
    status.struggling := report.repeats.andR
  }
}
