// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** Decides which of two queues' frames leaves, and when, in the transmit wire domain.
  *
  * A decision falls `WireRate.decisionToSfd` clocks before the SFD that it causes. In each slot of a clock in which the
  * wire is free:
  *  - the head of the timed queue leaves if that SFD is at or after its launch time; with `afterPrevious`, at once;
  *  - else the head of the immediate queue leaves, if the timed queue is empty, or if its frame and gap end early
  *    enough for the timed head's first possible SFD.
  * A timed head that is late already lets the immediate head go first, unless that queue had the frame before: overdue
  * frames keep an immediate one from the wire for one frame at most.
  * The wire is free again when the frame, its FCS and the gap are out. While the link is down all heads are dropped.
  *
  * `deficitIdle`: where a slot has several bytes, gaps are cut to the slot before their end and the missing bytes are
  * owed to a later gap (deficit idle count, IEEE 802.3 46.3.1.4); otherwise they are filled up to the slot behind it.
  */
case class LaunchGate(rate: WireRate, pointerBits: Int, deficitIdle: Boolean = true) extends Component {
  val io = new Bundle {
    val time = in UInt (TimeBase.bits bits)
    val increment = in UInt (TimeBase.incrementBits bits)
    val linkUp = in Bool ()
    val timed, immediate = slave(Stream(QueuedLaunch()))
    val timedSettled, immediateSettled = in Bool ()
    val start = master Flow (LaunchStart(rate))
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
    val byteTimes = RegNext(request.byteTimes)
    val read = Reg(UInt(pointerBits bits)) init 0
    head.ready := False
  }
  private val timed = Lane(io.timed, io.timedSettled)
  private val immediate = Lane(io.immediate, io.immediateSettled)

  private val slots = 0 until rate.slotsPerClock
  private val busy = Reg(UInt(14 bits)) init 0 // slots until the wire is free
  private val loading = RegInit(False) // `busy` follows

  private case class Slot(index: Int) extends Area {
    /** The SFD of a decision two clocks from now, which is when what follows from it is known. */
    val toSfd = rate.toSlot(rate.decisionToSfd + 3, index)
    val sfd = RegNext(io.time + RegNext(TimeBase.eighths(io.increment, toSfd)))
    val lateness = RegNext(sfd - TimeBase.fromStamp(timed.request.launch)) // two's complement
    val due = RegNext(!lateness.msb || timed.request.afterPrevious)
    val late = RegNext(!(lateness - TimeBase.slot(io.increment, rate)).msb && !timed.request.afterPrevious)
    val fits = RegNext((lateness + immediate.request.duration).msb && !timed.request.afterPrevious)
    val latenessNow = RegNext(lateness)
    val free = RegNext(!loading && busy <= index + rate.slotsPerClock) init True
  }
  private val isImmediate = RegInit(False)
  private val slot = slots.map(Slot(_))

  /** The start in that slot, unless there is one before it. */
  private case class Decision(slot: Slot) extends Area {
    val yields = slot.late && !isImmediate
    val open = slot.free && io.linkUp
    val startsTimed = open && timed.waits && slot.due && !(immediate.waits && yields)
    val startsImmediate = open && immediate.waits && !(timed.waits && !yields && (slot.due || !slot.fits))
    val starts = startsTimed || startsImmediate
  }
  private val decisions = slot.map(Decision(_))
  /** The last slot has a start that the first one has not. */
  private val second = if (slots.size == 2) !decisions(0).starts && decisions(1).starts else False
  private def chosen[T <: Data](of: Int => T): T = if (slots.size == 2) Mux(second, of(1), of(0)) else of(0)
  private val startTimed = chosen(decisions(_).startsTimed)
  private val startImmediate = chosen(decisions(_).startsImmediate)
  private val start = startTimed || startImmediate
  when(start) {
    isImmediate := startImmediate
    for (slot <- slot) slot.free := False
  }
  loading := start
  private val words = Reg(UInt(11 bits))
  private val byteTimes = Reg(UInt(14 bits))
  for ((lane, starts) <- Seq(timed -> startTimed, immediate -> startImmediate)) when(starts) {
    lane.head.ready := True
    byteTimes := lane.byteTimes
    words := lane.words
  }
  io.start.valid := RegNext(start) init False
  private val request = startImmediate ? immediate.request | timed.request
  io.start.length := RegNext(request.length)
  io.start.tag := RegNext(request.tag)
  io.startImmediate := isImmediate

  // ---- from an SFD to the next

  private val slotsBefore = 2 * rate.slotsPerClock // those of the clocks until `busy` is loaded
  private val period = if (slots.size == 1) byteTimes - slotsBefore
  else {
    io.start.secondSlot := RegNext(second)
    // A slot that was free and stayed empty has paid what is owed.
    val freeBefore = RegNext(slot.last.free) init True
    val paid = RegNext(second ? slot(0).free | freeBefore)
    val owed = Reg(UInt(log2Up(rate.slotBytes) bits)) init 0
    val over = byteTimes(owed.getWidth - 1 downto 0)
    val sum = (paid || Bool(!deficitIdle)) ? over.resize(owed.getWidth + 1) | over +^ owed
    when(loading)(owed := sum.resized)
    val more = if (deficitIdle) sum.msb else over.orR
    (byteTimes >> owed.getWidth).resize(14) - slotsBefore + more.asUInt + io.start.secondSlot.asUInt
  }
  private val ends = busy =/= 0 && busy <= rate.slotsPerClock
  busy := (busy <= rate.slotsPerClock) ? U(0) | busy - rate.slotsPerClock
  when(loading)(busy := period)

  // The words of the frame on the wire are done with when the wire is; those of a dropped one at once.
  when(ends) {
    when(isImmediate)(immediate.read := immediate.read + words).otherwise(timed.read := timed.read + words)
  }
  private val drops = slot(0).free && !io.linkUp
  private val dropTimed = drops && timed.waits
  private val dropImmediate = drops && immediate.waits && !timed.waits
  for ((lane, drops) <- Seq(timed -> dropTimed, immediate -> dropImmediate)) when(drops) {
    lane.head.ready := True
    lane.read := lane.read + lane.words
  }
  io.timedRead := timed.read
  io.immediateRead := immediate.read

  // ---- late frames

  private def pulse(event: Bool): Bool = RegNext(event) init False
  private val lateNow = startTimed && chosen(slot(_).late)
  /** The wire has just come free behind a timed frame: a frame that leaves now would not have left sooner, whenever it
    * came. Not so if that frame itself came too late: then those that came with it did too.
    */
  private val heldByTimed = RegInit(False)
  private val held = heldByTimed && !(second && slot(0).free)
  private val lateByItself = lateNow && io.timed.arrivedLate && !held
  when(slot.map(_.free).orR)(heldByTimed := startTimed && !lateByItself)
  io.dropped := pulse(dropTimed || dropImmediate)
  io.lateArrived := pulse(lateByItself)
  io.lateInverted := pulse(lateNow && !lateByItself && io.timed.inverted)
  io.lateBusy := pulse(lateNow && !lateByItself && !io.timed.inverted)
  private val latenessNow = chosen(slot(_).latenessNow)
  private val nanoseconds = latenessNow(TimeBase.bits - 1 downto TimeBase.fractionBits)
  io.lateBy := RegNext(nanoseconds(47 downto 32).orR ? U((BigInt(1) << 32) - 1, 32 bits) | nanoseconds.resize(32))
}
