// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.pacing

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import downbeat.lib.pipeline.{EventLink, HeldValues}
import downbeat.messages.{Booking, FlowReference}
import downbeat.wire.LaunchMode
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** An instant of the pacer. The 32 fraction bits drop no remainder. The epoch counts the wraps of the 48-bit clock, so
  * that a flow that was silent for days is not taken for one of tomorrow.
  */
case class PacerTime() extends Bundle {
  val fraction = UInt(32 bits) // 2^-32 ns
  val ns = UInt(48 bits)
  val epoch = UInt(16 bits)
}

/** The part of a grant that a timer queue's instant in whole ns leaves out. */
case class GrantContent(config: DownbeatConfig) extends Bundle {
  val generation = UInt(config.generationBits bits)
  val fraction = UInt(32 bits) // 2^-32 ns
  val epoch = UInt(16 bits)
  val mode = LaunchMode()
}

/** A grant that was given: the flow's next one counts from it. */
case class GrantedAt(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val time = PacerTime()
}

/** The pacer's arithmetic: from a booking, a step a clock, to the instant of its grant:
  *
  * grant = max(grant before + interval, now - (2^burst - 1) * interval), the interval given as such or per byte of the
  * segment before; the first of a connection: now. A grant in the past, which only a burst can have, is given at once
  * and its frame leaves as soon as it can. The next one counts from it all the same, so a burst is paid back.
  *
  * The memory of grants is written when a grant is given, not when it is booked, so a booking that replaces another
  * counts from the same segment.
  */
case class PacerSchedule(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val bookings = slave(Flow(Booking(config)))
    val now = in(PacerTime())
    val granted = slave(Flow(GrantedAt(config)))
    /** A grant to put into the queue; not armed: the flow is not paced, and what it had booked is void. */
    val paced = master(Flow(FlowEntry(config.flows, GrantContent(config))))
    /** A grant to give at once. */
    val unpaced = master(Flow(FlowReference(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val before = StateMemory(config.ecc, PacerTime(), config.flows)
  before.addAttribute("no_rw_check") // between a flow's booking and its grant lie many clocks
  before.write(io.granted.flow, io.granted.time, enable = io.granted.valid)

  private val multiply, sum, total, countLow, countHigh, backLow, backHigh, compare, choose = Node()
  private val nodes = List(multiply, sum, total, countLow, countHigh, backLow, backHigh, compare, choose)

  private val booking = io.bookings.m2sPipe(holdPayload = true)
  multiply.valid := booking.valid

  // interval * previousLength, 70 bits, from products of 18 bits by 14: register, multiplier, register, then two sums.
  // An interval that is not per byte has 16 fraction bits less.
  private val booked = new multiply.Area {
    val reference = insert(booking.reference)
    val first = insert(booking.first)
    val paced = insert(booking.paced)
    val adjacent = insert(booking.adjacent)
    val burst = insert(booking.burst)
    private val factor = Mux(booking.perByte, booking.previousLength, U(0, 14 bits))
    private val limbs = booking.interval.subdivideIn(18 bits, strict = false)
    val products = limbs.map(limb => insert(limb * factor))
    val whole = insert(Mux(booking.perByte, U(0, 56 bits), booking.interval))
  }
  private val product = new sum.Area {
    val low = insert(booked.products(0).resize(50) + (booked.products(1) << 18))
    val high = insert(booked.products(2).resize(34) + (booked.products(3) << 18).resize(34))
    val flow = booked.reference.flow
    io.unpaced.valid := isValid && !booked.paced
    io.unpaced.payload := booked.reference
  }
  private val operands = new total.Area {
    /** 2^-32 ns. */
    val interval = insert(
      ((product.high + product.low(49 downto 36).resize(34)) @@ product.low(35 downto 0)).resize(
        72) | (booked.whole @@ U(0, 16 bits)))
    val grantBefore = insert(before.readSync(product.flow, enable = sum.isValid).asBits.asUInt)
  }

  // The sums and the comparison take 48 bits a clock.
  private val nextLow = new countLow.Area {
    val grant = insert(operands.grantBefore(47 downto 0) +^ operands.interval(47 downto 0))
    val multiple = insert((operands.interval |<< booked.burst).resize(75)) // 2^burst intervals
  }
  private val nextHigh = new countHigh.Area {
    val grant = insert(
      operands.grantBefore(95 downto 48) + operands.interval(71 downto 48).resize(48) + nextLow.grant.msb.asUInt.resize(
        48))
    val savedLow = insert(nextLow.multiple(47 downto 0) -^ operands.interval(47 downto 0))
  }

  // The earliest grant that counts: (2^burst - 1) intervals ago.
  private val earliestLow = new backLow.Area {
    val savedHigh = insert(
      nextLow.multiple(74 downto 48) - operands.interval(71 downto 48) - nextHigh.savedLow.msb.asUInt)
    val now = insert(io.now.asBits.asUInt)
    val grant = insert(now(47 downto 0) -^ nextHigh.savedLow(47 downto 0))
  }
  private val earliestHigh = new backHigh.Area {
    val grant = insert(
      earliestLow.now(95 downto 48) - earliestLow.savedHigh.resize(48) - earliestLow.grant.msb.asUInt)
  }

  /** How the grant that follows from the one before lies to an instant. */
  private case class Order(low: UInt, high: UInt) extends compare.Area {
    val lowIsBefore = insert(nextLow.grant(47 downto 0) < low)
    val highIsBefore = insert((nextHigh.grant - high).msb)
    val highIsEqual = insert(nextHigh.grant === high)
  }
  private val order = new compare.Area {
    val toEarliest = Order(earliestLow.grant(47 downto 0), earliestHigh.grant)
    val toNow = Order(earliestLow.now(47 downto 0), earliestLow.now(95 downto 48))
  }

  private val decide = new choose.Area {
    private def isBefore(order: Order): Bool = order.highIsBefore || (order.highIsEqual && order.lowIsBefore)
    private val isLate = isBefore(order.toEarliest)
    private val isPast = isBefore(order.toNow) && booked.burst.orR
    private val time = PacerTime()
    time.assignFromBits((nextHigh.grant @@ nextLow.grant(47 downto 0)).asBits)
    when(isLate)(time.assignFromBits((earliestHigh.grant @@ earliestLow.grant(47 downto 0)).asBits))
    when(booked.first)(time.assignFromBits(earliestLow.now.asBits))

    io.paced.valid := isValid
    io.paced.flow := booked.reference.flow
    io.paced.entry.armed := booked.paced
    io.paced.entry.at.ns := time.ns
    io.paced.entry.content.generation := booked.reference.generation
    io.paced.entry.content.fraction := time.fraction
    io.paced.entry.content.epoch := time.epoch
    io.paced.entry.content.mode := LaunchMode.at
    when(isPast && !booked.first)(io.paced.entry.content.mode := LaunchMode.asap)
    when(booked.adjacent)(io.paced.entry.content.mode := LaunchMode.afterPrevious)
  }

  io.idle := !(nodes.map(_.isValid).reduce(_ || _) || booking.valid)

  choose.ready := True
  if (config.eventSpacing == 1) Builder(nodes.zip(nodes.tail).map { case (up, down) =>
    StageLink(up, down).withPayloadHold()
  })
  else {
    new HeldValues(nodes, config.eventSpacing, stays = _ => false) // a booking is an event's
    Builder(nodes.zip(nodes.tail).map { case (up, down) => new EventLink(up, down) })
  }
}
