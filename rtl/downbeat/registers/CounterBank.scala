// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.lib.WideMemory
import spinal.core._
import spinal.lib._

/** Adds up modulo 2^32 what modules count modulo 2^8. A count so takes eight registers in its module and a word of
  * memory here.
  *
  * The counts are visited in turn, one a clock. The increase since the last visit, 255 at most, is added to the total.
  * The bank shares the modules' reset, and all totals are zero until it is over.
  */
case class CounterBank(size: Int) extends Component {
  require(size >= 5 && size <= 128,
    s"$size counts: from 5, which a visit takes, to 128, in a round of which none may rise by 256")

  val io = new Bundle {
    val counts = in(Vec.fill(size)(UInt(CounterBank.countBits bits)))
    val select = in(UInt(log2Up(size) bits))
    /** A visit to `select` ends, or there is none in reset; from the next clock on, until one of the next round,
      * `total` is its result.
      */
    val visited = out(Bool())
    val total = out(UInt(32 bits))
  }
  noIoPrefix()

  private case class Entry() extends Bundle {
    val total = UInt(32 bits)
    val seen = UInt(CounterBank.countBits bits)
  }
  private val entries = WideMemory(Mem(Entry(), size))

  private val turn = Counter(size, inc = True)
  private val firstRound = RegInit(True) clearWhen turn.willOverflow

  // A visit: fetch in two clocks, add, write.
  private val fetched = new Area {
    val valid = Delay(True, 2, init = False)
    val index = Delay(turn.value, 2)
    val count = Delay(io.counts(turn.value), 2)
    val entry = RegNext(entries.readSync(turn.value))
    when(Delay(firstRound, 1, init = True))(entry := entry.getZero)
    val rise = count - entry.seen
  }
  private val added = new Area {
    val valid = RegNext(fetched.valid) init False
    val index = RegNext(fetched.index)
    val entry = Reg(Entry())
    entry.total := fetched.entry.total + fetched.rise
    entry.seen := fetched.count
  }
  entries.write(added.index, added.entry, added.valid)

  io.visited := !added.valid || added.index === io.select
  io.total := RegNextWhen(added.entry.total, added.valid && io.visited) init 0
}

object CounterBank {
  /** Bits with which a module counts. */
  val countBits = 8
}
