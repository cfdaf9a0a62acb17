// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.DownbeatConfig
import downbeat.engine.Booking
import downbeat.flow.FlowReference
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
  /** The frame leaves right behind the one before. */
  val adjacent = Bool()
}

/** A grant that was given: what the flow's next one counts from. */
case class GrantedAt(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val time = PacerTime()
}

/** The pacer's arithmetic: from a booking, a clock each, to the instant of its grant:
  *
  * grant = max(grant before + interval, now), the interval given as such or per byte of the segment before; the first of a
  * connection: now.
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

  private val multiply, sum, total, countLow, countHigh, compare, choose = Node()
  private val nodes = List(multiply, sum, total, countLow, countHigh, compare, choose)

  private val booking = io.bookings.m2sPipe(holdPayload = true)
  multiply.valid := booking.valid
  private val reference = multiply.insert(booking.reference)
  private val first = multiply.insert(booking.first)
  private val paced = multiply.insert(booking.paced)
  private val adjacent = multiply.insert(booking.adjacent)

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

  private val now = compare.insert(io.now.asBits.asUInt)
  private val lowIsBefore = compare.insert(compare(low)(47 downto 0) < compare(now)(47 downto 0))
  private val highIsBefore = compare.insert((compare(high) - compare(now)(95 downto 48)).msb)
  private val highIsEqual = compare.insert(compare(high) === compare(now)(95 downto 48))

  private val late = choose(highIsBefore) || (choose(highIsEqual) && choose(lowIsBefore))
  private val time = PacerTime()
  time.assignFromBits(
    (choose(first) || late) ? choose(now).asBits | (choose(high) @@ choose(low)(47 downto 0)).asBits)

  io.paced.valid := choose.isValid
  io.paced.flow := choose(reference).flow
  io.paced.appointment.armed := choose(paced)
  io.paced.appointment.at.ns := time.ns
  io.paced.appointment.content.generation := choose(reference).generation
  io.paced.appointment.content.fraction := time.fraction
  io.paced.appointment.content.epoch := time.epoch
  io.paced.appointment.content.adjacent := choose(adjacent)

  io.idle := !(nodes.map(_.isValid).reduce(_ || _) || booking.valid)

  choose.ready := True
  Builder(for ((up, down) <- nodes.zip(nodes.tail)) yield StageLink(up, down).withPayloadHold())
}
