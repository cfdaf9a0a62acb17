// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** A request with what was seen when it came. */
case class QueuedLaunch() extends Bundle {
  val request = LaunchRequest()
  /** Even on an idle wire it was too late for its launch time. */
  val arrivedLate = Bool()
  /** Its launch time is before that of the frame in front. */
  val inverted = Bool()
}

/** One of the gate's two queues, in the transmit wire domain: requests in order, evaluated as they come. Only `timed`
  * requests have a launch time; only of the others the gate needs the duration.
  */
case class LaunchQueue(rate: WireRate, timed: Boolean) extends Component {
  val io = new Bundle {
    val requests = slave Stream (LaunchRequest())
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    val head = master Stream (QueuedLaunch())
    /** The head has been there for two clocks: what the gate computes of it is right. */
    val settled = out Bool ()
  }
  noIoPrefix()

  /** When the SFD would be if the frame that is judged now left as soon as it can. */
  private val ahead = rate.decisionToSfd + LaunchQueue.judgedToDecision + 1 // clocks
  private val soonest = RegNext(io.time + RegNext(TimeBase.eighths(io.increment, rate.toSlot(ahead))))

  // Both ways: the way back from a full queue is too long for the crossing's pointer at its end.
  private val comes = io.requests.map(read).halfPipe()
  private val lastLaunch = RegNextWhen(comes.launch, comes.fire && !comes.afterPrevious)
  private val hasLast = RegInit(False) setWhen (comes.fire && !comes.afterPrevious)

  private case class Measured() extends Bundle {
    val request = LaunchRequest()
    val lateness = UInt(TimeBase.bits bits) // two's complement
    val inverted = Bool()
  }
  private val measured = comes.map { request =>
    val measured = Measured()
    measured.request := request
    measured.lateness := soonest - TimeBase.fromStamp(request.launch)
    measured.inverted := hasLast && (request.launch.asBits.asUInt - lastLaunch.asBits.asUInt).msb
    measured
  }.m2sPipe()
  private val judged = measured.map { measured =>
    val queued = QueuedLaunch()
    queued.request := measured.request
    queued.arrivedLate := Bool(timed) && !(measured.lateness - TimeBase.slot(io.increment, rate)).msb
    queued.inverted := Bool(timed) && measured.inverted
    queued
  }.m2sPipe()
  private val heads = StreamFifo(QueuedLaunch(), 16, forFMax = true)
  heads.io.push << judged
  /** The gate's ready comes late; what it has taken leaves the queue a clock later, and is not shown again. */
  private val taken = RegNext(io.head.fire) init False
  heads.io.pop.ready := taken
  io.head.valid := heads.io.pop.valid && !taken
  io.head.payload := heads.io.pop.payload

  /** The part of a request that the gate reads; the rest is zero, so that none of it is built. */
  private def read(request: LaunchRequest): LaunchRequest = {
    val read = CombInit(request)
    if (timed) read.duration.removeAssignments() := 0
    else {
      read.launch.removeAssignments() := Stamp.zero
      read.afterPrevious.removeAssignments() := False
    }
    read
  }

  private val stays = io.head.valid && !io.head.fire
  private val one = RegNext(stays) init False
  io.settled := RegNext(one && stays) init False
}

object LaunchQueue {
  /** Clocks from a request's judgement to the first in which the gate may decide on it, on an empty queue. */
  val judgedToDecision = 6
}
