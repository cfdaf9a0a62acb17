// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import spinal.core._
import spinal.lib._

/** A register for each count that a bank adds up. A read waits for the visit of its count, so that it misses nothing.
  *
  * `resetWith`: the reset of the modules that count.
  */
class CounterRegisters(declare: RegisterDeclarations, address: UInt, counts: Seq[(String, Bits)], resetWith: Bool,
    doc: String) extends Area {
  private val bank = new ResetArea(resetWith, cumulative = true) {
    val counters = CounterBank(counts.size)
  }.counters
  bank.io.counts.assignFromBits(Cat(counts.map(_._2)))

  private val registers = counts.flatMap { case (name, _) => declare.shown(name, bank.io.total.asBits, doc) }
  private val first = registers.head.getAddr()
  bank.io.select := ((address - first) >> 2).resized

  /** The value at `address` is up to date, or will be in the next clock. */
  val settled: Bool = bank.io.visited || address < first || address > registers.last.getAddr()
}
