// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{DepartureStamp, ReceivedBeat, TransmitBeat}
import spinal.core._
import spinal.lib._

/** The wire, at 1 Gb/s by GMII or at 10 Gb/s by XGMII, on one side, the core's frame streams, stamps and time on the
  * other.
  *
  * Four domains: the core's `clk`, the wire's two, and an external time's, whose resets follow from the core's and from
  * `softReset`.
  */
case class EthernetMac(config: DownbeatConfig) extends Component {
  private val rate = WireRate.of(config)

  val io = new Bundle {
    val gmii = !config.xgmii generate master(Gmii())
    val xgmii = config.xgmii generate master(Xgmii())

    // In the core's domain.
    /** Nanoseconds that a clock of the wire lasts, 8.32 fixed point, at least one. Taken over within 20 clocks; time
      * stays monotone.
      */
    val increment = in UInt (TimeBase.incrementBits bits)
    /** Monotone, but for a jump; late by at most six clocks of its own and four of the wire. */
    val now = out(Stamp())
    /** To set, discipline and compare the time. Inputs that are not connected leave it as it is. */
    val time = slave(TimeControl())
    val linkUp = in Bool ()
    /** A clock or more: all frames on their way are given up and counted. Lasts `EthernetMac.softResetClocks`. */
    val softReset = in Bool ()
    /** Frames as they come, without FCS. One that proves to be damaged ends with `error`. */
    val receive = master Stream (ReceivedBeat())
    val transmit = slave Stream (TransmitBeat())
    val departures = master Flow (DepartureStamp())
    val counters = out(MacCounters(config.counterBits))
    /** `linkUp`, and XGMII signals no fault. */
    val linkUsable = out Bool ()
    // In the clock domain of `transmitClock`, for more ports with stamps of this time.
    val wireNow = out UInt (TimeBase.bits bits) // 48.32
    val wireStep = out UInt (TimeBase.incrementBits bits) // 8.32: what a clock lasts now

    /** Asynchronous: its rising edges are stamped. */
    val pulseIn = in Bool ()
    /** In the clock domain of `transmitClock`: a square wave by the time base. */
    val pulseOut = out Bool ()
    val externalClock = in Bool () // may stand
    /** In clock domain `externalClock`: the time of the clock edge that takes it. */
    val externalTime = slave Flow (Stamp())
    for (input <- time.flatten ++ externalTime.flatten ++ Seq(pulseIn, externalClock) if input.isInput)
      EthernetMac.optional(input)
  }
  noIoPrefix()
  def receiveClock: Bool = if (config.xgmii) io.xgmii.rx_clk else io.gmii.rx_clk
  def transmitClock: Bool = if (config.xgmii) io.xgmii.tx_clk else io.gmii.gtx_clk

  private val core = ClockDomain.current
  private val domains = MacDomains(core, receiveClock, transmitClock, io.externalClock, io.softReset)
  import domains.{coreSoft, externalHard, receiveHard, receiveSoft, transmitHard, transmitSoft}
  for (input <- Seq(io.increment, io.linkUp, io.softReset) ++ io.transmit.flatten ++ io.time.flatten if input.isInput)
    input.addTag(ClockDomainTag(core))
  for (input <- io.externalTime.flatten) input.addTag(ClockDomainTag(externalHard))
  private val receivePins =
    if (config.xgmii) Seq(io.xgmii.rxd, io.xgmii.rxc) else Seq(io.gmii.rxd, io.gmii.rx_dv, io.gmii.rx_er)
  for (input <- receivePins) input.addTag(ClockDomainTag(receiveSoft))

  // ---- time

  private val wireTime = WireTime(rate, core, transmitHard, externalHard)
  wireTime.io.increment := io.increment
  wireTime.io.control <> io.time
  wireTime.io.pulseIn := io.pulseIn
  wireTime.io.externalTime << io.externalTime
  io.pulseOut := wireTime.io.pulseOut
  io.now := wireTime.io.now
  io.wireNow := wireTime.io.time
  io.wireStep := wireTime.io.step

  // ---- wire in

  private val gmiiReceiver = !config.xgmii generate receiveSoft(GmiiReceiver(config)).setName("receiver")
  private val xgmiiReceiver = config.xgmii generate receiveSoft(XgmiiReceiver(config)).setName("receiver")
  private val receiver: WireReceiver = if (config.xgmii) xgmiiReceiver else gmiiReceiver
  private val stamps = ReceiveStamps(rate, receiveSoft, transmitSoft)
  private val arriving =
    new StreamFifoCC(ArrivingBeat(), EthernetMac.receiveWords(config), receiveSoft, coreSoft,
      withPopBufferedReset = false)
  private val arrivalStamps =
    new StreamFifoCC(Stamp(), EthernetMac.receiveWords(config) / 8, receiveSoft, coreSoft, withPopBufferedReset = false)
  private val arrivals = receiveSoft(ReceiveIntake(rate.stampWord))
  private val guard = FrameGuard(config)

  if (config.xgmii) {
    xgmiiReceiver.io.column.data := io.xgmii.rxd
    xgmiiReceiver.io.column.control := io.xgmii.rxc
    stamps.io.secondSlot := xgmiiReceiver.io.secondSlot
  } else {
    gmiiReceiver.io.gmii.data := io.gmii.rxd
    gmiiReceiver.io.gmii.valid := io.gmii.rx_dv
    gmiiReceiver.io.gmii.error := io.gmii.rx_er
  }
  receiver.linkUp := receiveSoft(BufferCC(io.linkUp, False))
  stamps.io.startOfFrame := receiver.startOfFrame
  stamps.io.end := receiver.end.valid
  stamps.io.time := wireTime.io.time
  stamps.io.increment := wireTime.io.step

  arrivals.io.word << receiver.word
  arrivals.io.stays := receiver.stays
  arrivals.io.end << receiver.end
  arrivals.io.stamp := stamps.io.stamp
  arrivals.io.space := receiveSoft {
    // Two clocks old, and a frame that has begun ends in any case.
    val beats = RegNext(arriving.io.pushOccupancy) init 0
    val frames = RegNext(arrivalStamps.io.pushOccupancy) init 0
    RegNext(beats < EthernetMac.receiveWords(config) - 8 && frames < EthernetMac.receiveWords(config) / 8 - 4) init
      False
  }
  arriving.io.push.valid := arrivals.io.beats.valid
  arriving.io.push.payload := arrivals.io.beats.payload
  arrivalStamps.io.push.valid := arrivals.io.stamps.valid
  arrivalStamps.io.push.payload := arrivals.io.stamps.payload

  // A block RAM goes into a register.
  private val read = coreSoft(arriving.io.pop.m2sPipe())
  private val stamp = coreSoft(arrivalStamps.io.pop.m2sPipe())
  guard.io.source.arbitrationFrom(read.haltWhen(!stamp.valid))
  stamp.ready := guard.io.source.fire && read.last
  guard.io.source.frame.data := read.data
  guard.io.source.frame.keep := ((U(2, 9 bits) |<< (read.last ? read.bytes | U(7))) - 1).asBits.resized
  guard.io.source.frame.last := read.last
  guard.io.source.stamp := stamp.payload
  guard.io.source.error := read.error
  guard.io.cut := domains.resetting
  io.receive << guard.io.beats

  // ---- wire out

  private val intake = TransmitIntake(config)
  private val timed = TransmitLane(rate, timed = true, EthernetMac.timedWords(config), coreSoft, transmitSoft)
  private val immediate = TransmitLane(rate, timed = false, EthernetMac.immediateWords(config), coreSoft, transmitSoft)
  private val gate =
    transmitSoft(LaunchGate(rate, timed.pointerBits max immediate.pointerBits, config.deficitIdle))
  private val gmiiTransmitter = !config.xgmii generate transmitSoft(GmiiTransmitter()).setName("transmitter")
  private val xgmiiTransmitter = config.xgmii generate transmitSoft(XgmiiTransmitter()).setName("transmitter")
  private val transmitter: WireTransmitter = if (config.xgmii) xgmiiTransmitter else gmiiTransmitter

  intake.io.beats << io.transmit
  intake.io.flush := domains.resetting
  intake.io.increment := io.increment
  intake.io.timed <> timed.io.intake
  intake.io.immediate <> immediate.io.intake
  for (lane <- Seq(timed, immediate)) {
    lane.io.time := wireTime.io.time
    lane.io.increment := wireTime.io.step
    lane.io.start := gate.io.start.valid
    lane.io.fetch := transmitter.fetch
  }
  gate.io.time := wireTime.io.time
  gate.io.increment := wireTime.io.step
  // A register more: a synchronizer's two stay together, wherever that is, and the gate has no time to spare.
  private val upAtGate = transmitSoft(BufferCC(io.linkUp, False))
  private val faults = config.xgmii generate new Area {
    private val local = receiveSoft(RegNext(xgmiiReceiver.io.localFault) init False)
    private val remote = receiveSoft(RegNext(xgmiiReceiver.io.remoteFault) init False)
    val any = receiveSoft(RegNext(local || remote) init False)
    val atGate = transmitSoft(BufferCC(any, False))
    xgmiiTransmitter.io.remoteFault := transmitSoft(RegNext(BufferCC(local, False)) init False)
    val localBegins = receiveSoft(local.rise(False))
    val remoteBegins = receiveSoft(remote.rise(False))
  }
  gate.io.linkUp :=
    transmitSoft(RegNext(if (config.xgmii) upAtGate && !faults.atGate else upAtGate) init False)
  io.linkUsable := (if (config.xgmii) io.linkUp && !BufferCC(faults.any, False) else io.linkUp)
  gate.io.timed << timed.io.head
  gate.io.immediate << immediate.io.head
  gate.io.timedSettled := timed.io.settled
  gate.io.immediateSettled := immediate.io.settled
  timed.io.read := gate.io.timedRead.resized
  immediate.io.read := gate.io.immediateRead.resized
  transmitter.start << gate.io.start
  // The frames' block RAM takes most of a clock to its output.
  private val words = Seq(immediate, timed).map(lane => transmitSoft(RegNext(lane.io.word)))
  transmitter.word := transmitSoft(RegNext(gate.io.startImmediate ? words(0) | words(1)))
  transmitter.time := wireTime.io.time
  if (config.xgmii) {
    xgmiiTransmitter.io.increment := wireTime.io.step
    io.xgmii.txd := xgmiiTransmitter.io.column.data
    io.xgmii.txc := xgmiiTransmitter.io.column.control
  } else {
    io.gmii.txd := gmiiTransmitter.io.gmii.data
    io.gmii.tx_en := gmiiTransmitter.io.gmii.valid
    io.gmii.tx_er := gmiiTransmitter.io.gmii.error
  }

  private val departures = new StreamFifoCC(DepartureStamp(), 4, transmitSoft, coreSoft, withPopBufferedReset = false)
  departures.io.push.valid := transmitter.departure.valid
  departures.io.push.payload := transmitter.departure.payload
  io.departures << departures.io.pop.toFlow

  // ---- counters of frames

  private def received(name: String, event: Bool) = EventCounter.of(name, event, receiveHard, core, config.counterBits)
  private def sent(name: String, event: Bool) = EventCounter.of(name, event, transmitHard, core, config.counterBits)
  private val ended = receiver.end
  private val counters = io.counters
  counters.receive.frames := guard.io.frames
  counters.receive.linkDown := received("linkDown", ended.valid && ended.linkDown)
  counters.receive.rxError := received("rxError", ended.valid && ended.rxError)
  counters.receive.runt := received("runt", ended.valid && ended.runt)
  counters.receive.oversize := received("oversize", ended.valid && ended.oversize)
  counters.receive.badFcs := received("badFcs", ended.valid && ended.badFcs)
  counters.receive.pause := received("pause", ended.valid && ended.pause)
  counters.receive.overflow := received("overflow", arrivals.io.overflow)
  counters.receive.reset := RegNextWhen(received("accepted", arrivals.io.accepted) - guard.io.frames,
    domains.settled) init 0
  counters.transmit.frames := sent("departed", gate.io.start.valid)
  counters.transmit.oversize := intake.io.oversize
  counters.transmit.linkDown := sent("dropped", gate.io.dropped)
  counters.transmit.reset := intake.io.swallowed +
    (RegNextWhen(intake.io.accepted - counters.transmit.frames - counters.transmit.linkDown, domains.settled) init 0)
  counters.transmit.lateArrived := sent("lateArrived", gate.io.lateArrived)
  counters.transmit.lateInverted := sent("lateInverted", gate.io.lateInverted)
  counters.transmit.lateBusy := sent("lateBusy", gate.io.lateBusy)
  counters.fault.local := (if (config.xgmii) received("localFault", faults.localBegins) else U(0))
  counters.fault.remote := (if (config.xgmii) received("remoteFault", faults.remoteBegins) else U(0))
  private val worst = new ClockingArea(transmitHard) {
    private val late = gate.io.lateArrived || gate.io.lateInverted || gate.io.lateBusy
    val lateness = Reg(UInt(32 bits)) init 0
    // Frames are further apart than the two clocks that this takes.
    when(RegNext(late && lateness < gate.io.lateBy) init False)(lateness := RegNext(gate.io.lateBy))
  }
  private val worstLateness = new NewestCopy(worst.lateness, transmitHard, core, init = U(0, 32 bits))
  counters.transmit.worstLateness := worstLateness.value
}

object EthernetMac {
  private def optional(input: BaseType): Unit = input match {
    case bit: Bool => bit.default(False)
    case bits: Bits => bits.default(bits.getZero)
    case bits: UInt => bits.default(bits.getZero)
    case bits: SInt => bits.default(bits.getZero)
  }

  /** Length of a pulse of `softReset`, in core clocks. */
  val softResetClocks = 64

  /** Whole frames of the largest size and more: what waits for the core, for its time, for a gap. */
  def receiveWords(config: DownbeatConfig): Int = 4 * config.slotBytes / 8
  def timedWords(config: DownbeatConfig): Int = 4 * config.slotBytes / 8
  def immediateWords(config: DownbeatConfig): Int = 4 * config.slotBytes / 8
}
