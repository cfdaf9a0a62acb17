// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** A square wave by the time base, in the transmit wire domain: each edge is on the first clock edge at or after its
  * time.
  *
  * The period is the host's, as Linux's PTP_PEROUT_REQUEST has it: hardware knows no seconds. While the time base is
  * being corrected an edge may be early by three corrections, 1.5 ns at most.
  */
case class PulseOutput() extends Component {
  val io = new Bundle {
    val plan = slave Flow (PulsePlan())
    /** The time base jumps: what was planned means nothing any more. */
    val cancel = in Bool ()
    val time = in UInt (TimeBase.bits bits)
    val step = in UInt (TimeBase.incrementBits bits)
    val pin = out Bool ()
    val running = out Bool ()
    /** The last plan came too late for its start. */
    val missed = out Bool ()
  }
  noIoPrefix()

  private val running, missed, high = RegInit(False)
  private val edge = Reg(UInt(48 bits)) // ns: when the pin shall change
  private val halfPeriod = RegNextWhen(io.plan.halfPeriod, io.plan.valid)

  /** A change that is due two clocks from now comes to the pin at the third clock edge after that of `time`. */
  private val coming = RegNext(io.time + RegNext(TimeBase.clocks(io.step, 3))) >> TimeBase.fractionBits
  private val due = RegNext(!(coming - edge).msb) init False
  // The next edge of the plan follows a new `edge` by a clock.
  private val settling = RegNext(io.plan.valid) init False
  private val planned = RegNext(settling) init False
  private val changed = RegInit(False)
  private val changes = running && due && !changed && !settling

  changed := changes
  when(changes) {
    high := !high
    edge := edge + halfPeriod
  }
  when(running && planned && due) { // its start is past
    running := False
    missed := True
    high := False
  }
  when(io.plan.valid) {
    running := (io.plan.halfPeriod >> 10) =/= 0
    missed := False
    high := False
    edge := io.plan.start
  }
  when(io.cancel) {
    running := False
    high := False
  }
  io.pin := high
  io.running := running
  io.missed := missed
}
