// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** The one clock of all stamps: 48 bits of nanoseconds and 32 of fraction, in the transmit wire domain.
  *
  * Each clock it moves on by `increment` and `correction`, exactly: no remainder is dropped
  * (cocotb_tests/formal/time_base.sv proves it). A jump takes effect three clocks after it came, an increment or a
  * correction likewise.
  */
case class TimeBase(rate: WireRate) extends Component {
  val io = new Bundle {
    /** Nanoseconds that a clock lasts, 8.32 fixed point: at least one. A host may change it at any time, time stays
      * monotone.
      */
    val increment = in UInt (TimeBase.incrementBits bits)
    /** Added in each clock, 2^-32 ns: less than half a nanosecond, so time stays monotone. */
    val correction = in SInt (TimeBase.fractionBits bits)
    /** Three clocks apart or more. */
    val jump = slave Flow (TimeJump())
    /** 48.32, of the clock edge that has just been. */
    val time = out UInt (TimeBase.bits bits)
    /** The same, cut. */
    val stamp = out(Stamp())
    /** Length of a clock, with its correction, ns, 8.32. */
    val step = out UInt (TimeBase.incrementBits bits)
  }
  noIoPrefix()

  private val nominal = U(rate.nominalIncrement, TimeBase.incrementBits bits)
  private val increment = RegNext(io.increment) init nominal
  private val correction = RegNext(io.correction) init 0
  io.step := RegNext((increment.intoSInt + correction).asUInt.resize(TimeBase.incrementBits)) init nominal

  // A register before and behind each of the two sums.
  private val moves = io.jump.valid && io.jump.relative
  private val offset = RegNext(moves ? io.jump.value.asSInt | io.correction.resize(TimeBase.bits)) init 0
  private val addend = RegNext(increment.resize(TimeBase.bits) + offset.asUInt) init nominal.resize(TimeBase.bits)
  private val value = RegNextWhen(io.jump.value, io.jump.valid)
  private val time = Reg(UInt(TimeBase.bits bits)) init 0
  time := time + addend
  when(Delay(io.jump.valid && !io.jump.relative, 2, init = False))(time := value)
  io.time := time
  io.stamp := TimeBase.stamp(time)
}

object TimeBase {
  val bits = 80
  val fractionBits = 32
  val incrementBits = 40

  /** 48.32 to what the core sees, 48.16: the rest is cut, so a stamp is never later than what it stamps. */
  def stamp(time: UInt): Stamp = {
    val stamp = Stamp()
    stamp.assignFromBits(time(bits - 1 downto fractionBits - 16).asBits)
    stamp
  }
  /** The length of `times` clocks, by shifts and few sums: a multiplier would take half a byte time alone. */
  def clocks(step: UInt, times: Int): UInt = {
    val width = incrementBits + log2Up(times + 1)
    // Digits of 1 and -1, no two of them side by side.
    def terms(rest: Int, shift: Int): Seq[(Int, Boolean)] =
      if (rest == 0) Nil
      else if (rest % 2 == 0) terms(rest / 2, shift + 1)
      else if (rest % 4 == 3) (shift, true) +: terms((rest + 1) / 2, shift + 1)
      else (shift, false) +: terms((rest - 1) / 2, shift + 1)
    terms(times, 0).reverse.foldLeft(U(0, width bits)) { case (sum, (shift, subtract)) =>
      val term = (step << shift).resize(width)
      if (subtract) sum - term else sum + term
    }
  }
  /** The same for eighths of a clock, cut. */
  def eighths(step: UInt, times: Int): UInt = if (times % 8 == 0) clocks(step, times / 8) else clocks(step, times) >> 3
  /** The time from one slot to the next. */
  def slot(step: UInt, rate: WireRate): UInt = step >> log2Up(rate.slotsPerClock)
  def fromStamp(stamp: Stamp): UInt = (stamp.asBits ## B(0, fractionBits - 16 bits)).asUInt
}
