// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.config.DownbeatConfig
import downbeat.lib.pipeline.{EventLink, HeldValues}
import downbeat.messages.{Booking, FlowReference}
import downbeat.wire.LaunchMode
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An instant of the pacer: ns with 32 fraction bits, so that no remainder is ever dropped, and an epoch that
  * counts the wraps of the 48-bit clock, so that a flow which was silent for days is not taken for one of tomorrow.
  */
case class PacerTime() extends Bundle {
  val fraction = UInt(32 bits) // 2^-32 ns
  val ns = UInt(48 bits)
  val epoch = UInt(16 bits)
}

/** Of an appointed grant, what its instant in whole ns leaves out. */
case class GrantContent(config: DownbeatConfig) extends Bundle {
  val generation = UInt(config.generationBits bits)
  val fraction = UInt(32 bits) // 2^-32 ns
  val epoch = UInt(16 bits)
  val mode = LaunchMode()
}

/** A grant that was given: what the flow's next one counts from. */
case class GrantedAt(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val time = PacerTime()
}

/** The pacer's arithmetic: from a booking, a clock each, to the instant of its grant:
  *
  * grant = max(grant before + interval, now - (2^burst - 1) * interval), the interval given as such or per byte of the segment before; the
  * first of a connection: now. A grant in the past, which only a burst can have, is given at once and its frame leaves as soon as it can;
  * what comes next counts from it all the same, so a burst is paid back.
  *
  * The memory of grants given is written when a grant is given, not when one is booked, so a booking that replaces another
  * counts from the same segment.
  */
case class PacerSchedule(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val bookings = slave(Flow(Booking(config)))
    val now = in(PacerTime())
    val granted = slave(Flow(GrantedAt(config)))
    /** A grant to appoint; not armed: the flow is not paced, and what it had booked is void. */
    val paced = master(Flow(FlowAppointment(config.flows, GrantContent(config))))
    /** A grant to give at once. */
    val unpaced = master(Flow(FlowReference(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val before = Mem(PacerTime(), config.flows)
  before.addAttribute("no_rw_check") // between a flow's booking and its grant lie many clocks
  before.write(io.granted.flow, io.granted.time, enable = io.granted.valid)

  private val multiply, sum, total, countLow, countHigh, backLow, backHigh, compare, choose = Node()
  private val nodes = List(multiply, sum, total, countLow, countHigh, backLow, backHigh, compare, choose)

  private val booking = io.bookings.m2sPipe(holdPayload = true)
  multiply.valid := booking.valid
  private val reference = multiply.insert(booking.reference)
  private val first = multiply.insert(booking.first)
  private val paced = multiply.insert(booking.paced)
  private val adjacent = multiply.insert(booking.adjacent)
  private val burst = multiply.insert(booking.burst)

  io.unpaced.valid := sum.isValid && !sum(paced)
  io.unpaced.payload := sum(reference)

  // interval * previousLength, 70 bits, from products of 18 bits by 14: register, multiplier, register, then two sums. An interval that is
  // not per byte has 16 fraction bits less.
  private val factor = booking.perByte ? booking.previousLength | U(0, 14 bits)
  private val limbs = booking.interval.subdivideIn(18 bits, strict = false)
  private val products = limbs.map(limb => multiply.insert(limb * factor))
  private val whole = multiply.insert(booking.perByte ? U(0, 56 bits) | booking.interval)
  private val productLow = sum.insert(sum(products(0)).resize(50) + (sum(products(1)) << 18))
  private val productHigh = sum.insert(sum(products(2)).resize(34) + (sum(products(3)) << 18).resize(34))
  private val product = total.insert(
    ((total(productHigh) + total(productLow)(49 downto 36).resize(34)) @@ total(productLow)(35 downto 0)).resize(72) |
      (total(whole) @@ U(0, 16 bits)))

  // The sum and the comparison take 48 bits a clock.
  private val last = total.insert(before.readSync(sum(reference).flow, enable = sum.isValid).asBits.asUInt)
  private val low = countLow.insert(countLow(last)(47 downto 0) +^ countLow(product)(47 downto 0))
  private val high = countHigh.insert(
    countHigh(last)(95 downto 48) + countHigh(product)(71 downto 48).resize(48) + countHigh(low).msb.asUInt.resize(48))

  // The earliest that counts: (2^burst - 1) intervals ago.
  private val times = countLow.insert((countLow(product) |<< countLow(burst)).resize(75))
  private val savedLow = countHigh.insert(countHigh(times)(47 downto 0) -^ countHigh(product)(47 downto 0))
  private val savedHigh = backLow.insert(
    backLow(times)(74 downto 48) - backLow(product)(71 downto 48) - backLow(savedLow).msb.asUInt)
  private val now = backLow.insert(io.now.asBits.asUInt)
  private val earliestLow = backLow.insert(backLow(now)(47 downto 0) -^ backLow(savedLow)(47 downto 0))
  private val earliestHigh = backHigh.insert(
    backHigh(now)(95 downto 48) - backHigh(savedHigh).resize(48) - backHigh(earliestLow).msb.asUInt)

  /** The departure that follows from the one before lies before an instant. */
  private def isBefore(instantLow: UInt, instantHigh: UInt): Bool = {
    val lowIsBefore = compare.insert(compare(low)(47 downto 0) < instantLow)
    val highIsBefore = compare.insert((compare(high) - instantHigh).msb)
    val highIsEqual = compare.insert(compare(high) === instantHigh)
    choose(highIsBefore) || (choose(highIsEqual) && choose(lowIsBefore))
  }
  private val late = isBefore(compare(earliestLow)(47 downto 0), compare(earliestHigh))
  private val behind = isBefore(compare(now)(47 downto 0), compare(now)(95 downto 48)) && choose(burst).orR
  private val time = PacerTime()
  time.assignFromBits((choose(high) @@ choose(low)(47 downto 0)).asBits)
  when(late)(time.assignFromBits((choose(earliestHigh) @@ choose(earliestLow)(47 downto 0)).asBits))
  when(choose(first))(time.assignFromBits(choose(now).asBits))

  io.paced.valid := choose.isValid
  io.paced.flow := choose(reference).flow
  io.paced.entry.armed := choose(paced)
  io.paced.entry.at.ns := time.ns
  io.paced.entry.content.generation := choose(reference).generation
  io.paced.entry.content.fraction := time.fraction
  io.paced.entry.content.epoch := time.epoch
  io.paced.entry.content.mode := LaunchMode.at
  when(behind && !choose(first))(io.paced.entry.content.mode := LaunchMode.asap)
  when(choose(adjacent))(io.paced.entry.content.mode := LaunchMode.afterPrevious)

  io.idle := !(nodes.map(_.isValid).reduce(_ || _) || booking.valid)

  choose.ready := True
  if (config.eventSpacing == 1) Builder(nodes.zip(nodes.tail).map { case (up, down) => StageLink(up, down).withPayloadHold() })
  else {
    new HeldValues(nodes, config.eventSpacing, stays = _ => false) // a booking is an event's
    Builder(nodes.zip(nodes.tail).map { case (up, down) => new EventLink(up, down) })
  }
}
