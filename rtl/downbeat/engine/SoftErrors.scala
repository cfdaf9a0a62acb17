// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.messages.{FlowStatus, NetworkError, TcpState}
import spinal.core._
import spinal.lib.misc.pipeline._

/** What went wrong without an end. */
case class SoftErrorState() extends Bundle {
  val error = NetworkError() // the last one
  val errors = UInt(2 bits) // how many, modulo 4
  val repeats = UInt(2 bits) // times that the oldest segment was sent again, three or more
}

/** What RFC 9293 3.9.1.8 wants the application to hear of: ICMP errors that end nothing, and R1, the third retransmission of one segment
  * (3.8.3). Probes of a window that is shut are none, for they are answered.
  */
class SoftErrors(view: ProtocolView, verdict: SegmentVerdict, stateMachine: StateMachine) extends Area {
  import view._
  import signals._

  private val isOldest = s0.insert(s0(SEQUENCE).value === s0(before).unacknowledged.value)
  private val mayArrive = s0.insert(s0(before).sendWindow.field.orR || s0(before).state === TcpState.synSent)
  private val repeats = s2.insert(s2(RESENT) && s2(isOldest) && s2(mayArrive) && !s2(before).softErrors.repeats.andR)
  private val count = s3.insert(
    (s3(OPENING) || s3(verdict.acknowledges)) ? U(0, 2 bits) | (s3(before).softErrors.repeats + s3(repeats).asUInt))
  private val error = s0.insert(NetworkError.ofWindow(s0(WIRE_WINDOW)))

  /** The application is to hear of it. */
  val tells = s3.insert(s3(stateMachine.icmpErrors) || s3(repeats) && s3(before).softErrors.repeats === 2)

  val after = SoftErrorState()
  private val last = s5(before).softErrors
  after.error := s5(stateMachine.icmpErrors) ? s5(error) | last.error
  after.errors := last.errors + s5(stateMachine.icmpErrors).asUInt
  when(s5(OPENING)) {
    after.error.assignFromBits(B(0, widthOf(after.error) bits))
    after.errors := 0
  }
  after.repeats := s5(count)

  def show(status: FlowStatus): Unit = {
    status.error := after.error
    status.errors := after.errors
    status.struggling := s5(count).andR
  }
}
