// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** Decides which of two queues' frames leaves, and when, in the transmit wire domain.
  *
  * A decision falls `decisionToSfd` byte times before the SFD that it causes. In each clock in which the wire is free:
  *  - the head of the timed queue leaves if that SFD is at or after its launch time; with `afterPrevious`, at once;
  *  - else the head of the immediate queue leaves, if the timed queue is empty, or if its frame and gap end early
  *    enough for the timed head's first possible SFD.
  * A timed head that is late already lets the immediate head go first, unless that queue had the frame before: overdue
  * frames keep an immediate one from the wire for one frame at most.
  * The wire is free again when the frame, its FCS and the gap are out. While the link is down all heads are dropped.
  */
case class LaunchGate(pointerBits: Int) extends Component {
  val io = new Bundle {
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    val linkUp = in Bool ()
    val timed, immediate = slave(Stream(QueuedLaunch()))
    val timedSettled, immediateSettled = in Bool ()
    val start = master Flow (LaunchStart())
    val startImmediate = out Bool () // with `start`, and until the next
    /** First words of the heads; all before is done with. */
    val timedRead, immediateRead = out UInt (pointerBits bits)
    // One clock for each frame.
    val dropped, lateArrived, lateInverted, lateBusy = out Bool ()
    /** With each of the last three: its SFD after its launch, ns; all ones: that or more. */
    val lateBy = out UInt (32 bits)
  }
  noIoPrefix()

  private case class Lane(head: Stream[QueuedLaunch], settled: Bool) extends Area {
    val request = head.payload.request
    val waits = head.valid && settled
    val words = RegNext(request.words)
    val busy = RegNext(request.byteTimes - 1)
    val read = Reg(UInt(pointerBits bits)) init 0
    head.ready := False
  }
  private val timed = Lane(io.timed, io.timedSettled)
  private val immediate = Lane(io.immediate, io.immediateSettled)

  /** The SFD of a decision two clocks from now, which is when what follows from it is known. */
  private val sfd = RegNext(io.time + RegNext(TimeBase.clocks(io.increment, LaunchGate.decisionToSfd + 3)))
  private val lateness = RegNext(sfd - TimeBase.fromStamp(timed.request.launch)) // two's complement
  private val due = RegNext(!lateness.msb || timed.request.afterPrevious)
  private val late = RegNext(!(lateness - io.increment).msb && !timed.request.afterPrevious)
  private val fits = RegNext((lateness + immediate.request.duration).msb && !timed.request.afterPrevious)

  private val free = RegInit(True)
  private val busy = Reg(UInt(14 bits)) init 0
  when(busy =/= 0)(busy := busy - 1)
  when(busy === 1)(free := True)

  private val isImmediate = RegInit(False)
  private val yields = late && !isImmediate
  private val startTimed = free && io.linkUp && timed.waits && due && !(immediate.waits && yields)
  private val startImmediate = free && io.linkUp && immediate.waits && !(timed.waits && !yields && (due || !fits))
  private val start = startTimed || startImmediate
  when(start)(isImmediate := startImmediate)
  private val words = Reg(UInt(11 bits))
  for ((lane, starts) <- Seq(timed -> startTimed, immediate -> startImmediate)) when(starts) {
    lane.head.ready := True
    free := False
    busy := lane.busy
    words := lane.words
  }
  io.start.valid := RegNext(start) init False
  private val chosen = startImmediate ? immediate.request | timed.request
  io.start.length := RegNext(chosen.length)
  io.start.tag := RegNext(chosen.tag)
  io.startImmediate := isImmediate

  // The words of the frame on the wire are done with when the wire is; those of a dropped one at once.
  when(busy === 1) {
    when(isImmediate)(immediate.read := immediate.read + words).otherwise(timed.read := timed.read + words)
  }
  private val dropTimed = free && !io.linkUp && timed.waits
  private val dropImmediate = free && !io.linkUp && immediate.waits && !timed.waits
  for ((lane, drops) <- Seq(timed -> dropTimed, immediate -> dropImmediate)) when(drops) {
    lane.head.ready := True
    lane.read := lane.read + lane.words
  }
  io.timedRead := timed.read
  io.immediateRead := immediate.read

  private def pulse(event: Bool): Bool = RegNext(event) init False
  private val lateNow = startTimed && late
  /** The wire has just come free behind a timed frame: a frame that leaves now would not have left sooner, whenever it
    * came. Not so if that frame itself came too late: then those that came with it did too.
    */
  private val heldByTimed = RegInit(False)
  private val lateByItself = lateNow && io.timed.arrivedLate && !heldByTimed
  when(free)(heldByTimed := startTimed && !lateByItself)
  io.dropped := pulse(dropTimed || dropImmediate)
  io.lateArrived := pulse(lateByItself)
  io.lateInverted := pulse(lateNow && !lateByItself && io.timed.inverted)
  io.lateBusy := pulse(lateNow && !lateByItself && !io.timed.inverted)
  private val latenessNow = RegNext(lateness)
  private val nanoseconds = latenessNow(TimeBase.bits - 1 downto TimeBase.fractionBits)
  io.lateBy := RegNext(nanoseconds(47 downto 32).orR ? U((BigInt(1) << 32) - 1, 32 bits) | nanoseconds.resize(32))
}

object LaunchGate {
  /** Byte times from a decision to its SFD. */
  val decisionToSfd: Int = 1 + GmiiTransmitter.startToSfd
}
