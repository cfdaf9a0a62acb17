// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.EngineSizes
import downbeat.lib.ecc.StateMemory
import spinal.core._
import spinal.lib._

/** Sums over the samples of a class, in units of 2^sh ns. */
case class GapSums(extra: Int = 0) extends Bundle {
  val count = UInt(5 + extra bits)
  val x, y = UInt(27 + extra bits)
  val xx, xy = UInt(50 + extra bits)

  def add(other: GapSums): Unit = {
    count := count + other.count.resized
    x := x + other.x.resized
    y := y + other.y.resized
    xx := xx + other.xx.resized
    xy := xy + other.xy.resized
  }
}

/** The sums of all flows, a row for each class of a flow. One row is in a register at a time.
  *
  * @param address flow and class
  */
class GapSumsMemory(config: EngineSizes, address: UInt) extends Area {
  private val sums = StateMemory(config.ecc, GapSums(), config.flows * GapFit.classes.size)
  sums.addAttribute("no_rw_check") // written in states of their own
  val row = Reg(GapSums())
  /** The row of the address of the clock before. */
  val read = sums.readSync(address)
  /** The value that `writes` writes: the register, unless another value is assigned. */
  val written = CombInit(row)
  val writes = False
  sums.write(address, written, writes)

  // y <= 1.05 x in three clocks.
  private val beyond = RegNext(row.y.resize(28).asSInt - row.x.resize(28).asSInt)
  private val twenty = RegNext((beyond.resize(33) |<< 4) + (beyond.resize(33) |<< 2))
  /** The class of the row is within the knee; of the row three clocks before. */
  val within = RegNext(!(row.x.resize(33).asSInt < twenty) && row.count.orR)
}

/** The registers of an estimate, and comparisons of what they were in the clock before. */
class GapEstimate(firstGap: UInt) extends Area {
  /** Sums over classes. */
  val total = Reg(GapSums(extra = 2))
  /** D, and then the gap; E. */
  val d, e = Reg(SInt(64 bits))
  /** d0, and then the estimate. */
  val gap = Reg(UInt(SerialArithmetic.shortBits bits))
  /** d0 bounds the estimate. */
  val bounded = Reg(Bool())

  val excess = RegNext(total.y.resize(30).asSInt - total.x.resize(30).asSInt)
  val tooShort = RegNext(d < firstGap.resize(64).asSInt)
  val shorter = RegNext(d < gap.resize(64).asSInt)
  /** D has more than 32 bits. */
  val large = RegNext(d(63 downto 32).orR)
  /** The fitted line does not meet y = x. */
  val apart = RegNext(e.msb || !e.orR)
}
