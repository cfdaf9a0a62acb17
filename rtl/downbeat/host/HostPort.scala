// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.messages.NextInstant
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** State of a port that other modules see. */
case class HostPortView() extends Bundle {
  /** Its rings may be accessed. */
  val running = Bool()
  /** Free-running indexes: commands [head, tail) wait; notifications [head, tail) are unread. */
  val commandHead, commandTail, notificationHead, notificationTail = UInt(32 bits)
  /** One past the last notification that the host may have seen: its write response may still be on its way. */
  val notificationShown = UInt(32 bits)
  val commandBase, notificationBase = UInt(64 bits)
  val commandSize, notificationSize = UInt(4 bits) // 2^size entries
}

/** The host has read up to `index`. */
case class HostHead() extends Bundle {
  val index = UInt(32 bits)
  /** It wants an interrupt for what follows. */
  val arm = Bool()
}

/** A port's life: starts and stops, indexes of its rings, and its interrupt.
  *
  * The interrupt rises when it is armed, there are unread notifications, and `holdOff` ns have gone since it last rose.
  * It falls when the host says what it has read.
  */
case class HostPort() extends Component {
  val io = new Bundle {
    val now = in(Instant())
    val setUp = in(HostSetUp())
    val view = out(HostPortView())
    /** Running, or about to stop. */
    val alive = out(Bool())
    val refused, stopped = out(Bool())
    val tail = slave(Flow(UInt(32 bits)))
    val head = slave(Flow(HostHead()))
    val commandDone, notified = in(Bool())
    /** A notification has left for the memory. */
    val written = in(Bool())
    /** The memory refused an access to a ring, or does not answer. */
    val broken = in(Bool())
    /** An access to a ring is under way. */
    val busy = in(Bool())
    /** Doorbells of its life before are done. */
    val settled = in(Bool())
    /** It starts: the host is to hear of all its connections. */
    val starts = out(Bool())
    val interrupt = out(Bool())
    val next = out(NextInstant())
    val idle = out(Bool())
  }
  noIoPrefix()

  private object State extends SpinalEnum {
    val off, checked, running, ending = newElement()
  }
  private val state = RegInit(State.off)
  private val refused, stopped = RegInit(False)
  /** Enable was 0 since the last start. */
  private val rearmed = RegInit(True) setWhen !io.setUp.enable

  private val command = new HostRing(io.setUp.commandBase, io.setUp.commandSize)
  private val notification = new HostRing(io.setUp.notificationBase, io.setUp.notificationSize)
  private val shown = Reg(UInt(32 bits)) init 0
  private val stops = !io.setUp.enable || io.broken

  io.starts := False
  switch(state) {
    is(State.off) {
      when(io.setUp.enable && rearmed)(state := State.checked)
    }
    is(State.checked) { // the verdict on the rings is in registers
      refused := command.bad || notification.bad
      when(command.bad || notification.bad) {
        rearmed := False
        state := State.off
      } elsewhen (io.settled) {
        rearmed := False
        stopped := False
        for (ring <- Seq(command, notification)) ring.start()
        shown := 0
        io.starts := True
        state := State.running
      }
    }
    is(State.running) {
      when(stops)(state := State.ending)
    }
    is(State.ending)(when(!io.busy)(state := State.off))
  }
  when(io.broken)(stopped := True)
  when(io.tail.valid)(command.tail := io.tail.payload)
  when(io.commandDone)(command.head := command.head + 1)
  when(io.head.valid)(notification.head := io.head.index)
  when(io.notified)(notification.tail := notification.tail + 1)
  when(io.written)(shown := notification.tail + 1)

  io.view.running := state === State.running
  io.view.commandHead := command.head
  io.view.commandTail := command.tail
  io.view.commandBase := command.base
  io.view.commandSize := command.size
  io.view.notificationHead := notification.head
  io.view.notificationTail := notification.tail
  io.view.notificationShown := shown
  io.view.notificationBase := notification.base
  io.view.notificationSize := notification.size
  io.alive := state === State.running || state === State.ending
  io.refused := refused
  io.stopped := stopped

  private val interrupt = new Area {
    val raised, armed, holding = RegInit(False)
    private val until = Reg(Instant())
    private val over = RegNext(io.now.hasReached(until)) init False
    private val fresh = RegInit(False) // `over` is not about this `until` yet
    fresh := False
    when(over && !fresh)(holding := False)
    private val unread = RegNext(notification.head =/= notification.tail && notification.head =/= shown) init False
    // `unread` is a clock late.
    val wanted = armed && unread && io.view.running && !(RegNext(io.head.valid) init False)
    when(wanted && !holding && !io.head.valid && !stops) {
      raised := True
      armed := False
      holding := True
      fresh := True
      until := io.now + io.setUp.holdOff
    }
    when(io.head.valid) {
      raised := False
      armed := io.head.arm
    }
    when(!io.view.running) {
      raised := False
      armed := False
    }
    io.next.armed := wanted && holding
    io.next.at := until
  }
  io.interrupt := interrupt.raised
  // A start or a stop moves within a few clocks; an interrupt that is due rises in the next one.
  private val moving = state === State.checked || state === State.ending ||
    state === State.off && io.setUp.enable && rearmed || state === State.running && !io.setUp.enable
  io.idle := !moving && !(interrupt.wanted && !interrupt.holding)
}

/** Place and indexes of a ring. */
class HostRing(from: UInt, sizeLog2: UInt) extends Area {
  val base = Reg(UInt(64 bits))
  val size = Reg(UInt(4 bits))
  val head, tail = Reg(UInt(32 bits)) init 0
  /** Such a ring cannot be. */
  val bad: Bool = RegNext(
    from(log2Up(HostFormat.pageBytes) - 1 downto 0) =/= 0 || sizeLog2 === 0 || sizeLog2 > HostFormat.largestSizeLog2)

  def start(): Unit = {
    base := from
    size := sizeLog2.resized
    head := 0
    tail := 0
  }
}
