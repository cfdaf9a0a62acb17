// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** The time base with the registers that set, discipline and compare it, and their clock-domain crossings.
  *
  * A pulse, or an external time, is sampled half a clock after its edge on average, and passes registers for 2 clocks
  * more. It gets the time of 2.5 clocks ago, right to half a clock; to one clock where a synchroniser settles late.
  */
case class WireTime(rate: WireRate, core: ClockDomain, wire: ClockDomain, external: ClockDomain) extends Component {
  val io = new Bundle {
    // In clock domain `core`.
    val increment = in UInt (TimeBase.incrementBits bits)
    val now = out(Stamp())
    val control = slave(TimeControl())
    // In clock domain `wire`.
    val time = out UInt (TimeBase.bits bits) // 48.32
    val step = out UInt (TimeBase.incrementBits bits) // 8.32: what a clock lasts now
    val pulseOut = out Bool ()
    // In no clock domain.
    val pulseIn = in Bool ()
    // In clock domain `external`.
    val externalTime = slave Flow (Stamp())
  }
  noIoPrefix()

  /** Commands are taken over whole, in order. */
  private def toWire[T <: Data](name: String, command: Stream[T]): Flow[T] = {
    val crossing =
      new StreamCCByToggle(cloneOf(command.payload), core, wire, withOutputBufferedReset = false).setName(name)
    crossing.io.input << command
    crossing.io.output.toFlow
  }
  private def toCore(bit: Bool): Bool = core(BufferCC(wire(RegNext(bit) init False), False))

  private val increment =
    new NewestCopy(io.increment, core, wire, U(rate.nominalIncrement, TimeBase.incrementBits bits))
  private val jump = toWire("jump", io.control.jump)
  private val slewing = toWire("slewCommand", io.control.slew)
  private val plan = toWire("plan", io.control.pulses)
  private val sample = new PulseCCByToggle(core, wire, withOutputBufferedReset = false).setName("sample")
  sample.io.pulseIn := io.control.sample
  private val externalTime =
    new StreamCCByToggle(Stamp(), external, wire, withOutputBufferedReset = false).setName("externalCrossing")
  externalTime.io.input.valid := io.externalTime.valid
  externalTime.io.input.payload := io.externalTime.payload

  private val timeBase = wire(TimeBase(rate))
  private val slew = wire(Slew())
  private val pulseInput = wire(PulseInput())
  private val pulseOutput = wire(PulseOutput())
  private val comparison = wire(ExternalTime())

  private val disciplined = new ClockingArea(wire) {
    val follows = BufferCC(io.control.follow, False)
    slew.io.slew << slewing
    slew.io.cancel := jump.valid
    timeBase.io.increment := increment.value
    timeBase.io.jump << jump
    timeBase.io.correction := follows ? comparison.io.correction | slew.io.correction
  }
  io.time := timeBase.io.time
  io.step := timeBase.io.step

  private val compared = new ClockingArea(wire) {
    val age = RegNext(TimeBase.clocks(timeBase.io.step, WireTime.eventAgeHalves) >> 1)
    val instant = TimeBase.stamp(RegNext(timeBase.io.time - age.resize(TimeBase.bits)))
    pulseInput.io.pin := io.pulseIn
    pulseInput.io.instant := instant
    comparison.io.sample << externalTime.io.output.toFlow
    comparison.io.instant := instant
    comparison.io.wanted := sample.io.pulseOut
  }

  private val logged = new ClockingArea(wire) {
    val pulseLost, sampleLost = Bool()
    val log = new StreamFifoCC(TimeEvent(), WireTime.logEntries, wire, core, withPopBufferedReset = false)
    log.io.push << StreamArbiterFactory().lowerFirst.transactionLock.on(
      Seq(pulseInput.io.event.toStream(pulseLost).m2sPipe(), comparison.io.event.toStream(sampleLost).m2sPipe()))
    io.control.events << log.io.pop
    io.control.pulsesLost := EventCounter.of("pulsesLost", pulseLost, wire, core)
    io.control.samplesLost := EventCounter.of("samplesLost", sampleLost, wire, core)
  }

  private val pulses = new ClockingArea(wire) {
    pulseOutput.io.plan << plan
    pulseOutput.io.cancel := jump.valid
    pulseOutput.io.time := timeBase.io.time
    pulseOutput.io.step := timeBase.io.step
    io.pulseOut := pulseOutput.io.pin
  }

  private val now = new NewestCopy(timeBase.io.stamp, wire, core, Stamp.zero)
  io.now := now.value
  io.control.slewing := toCore(slew.io.active)
  io.control.pulsing := toCore(pulseOutput.io.running)
  io.control.pulsesMissed := toCore(pulseOutput.io.missed)
  io.control.externalAlive := toCore(comparison.io.alive)
}

object WireTime {
  /** Wire clocks from an edge outside until it is seen, twice: half a one on average, and two registers. */
  val eventAgeHalves = 5
  /** Events that wait for the host. */
  val logEntries = 16
}
