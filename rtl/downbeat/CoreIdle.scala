// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.messages.NextInstant
import spinal.core._
import spinal.lib._

/** Whether the core's clock may stop, and until when, from what its modules say. A top names all of its modules here.
  */
object CoreIdle {
  /** The port `idle`: all modules have been idle for six clocks.
    *
    * A module may say one clock late that it is busy, the register here adds a clock, and [[nextDeadline]] is three
    * clocks late.
    */
  def apply(modules: Bool*): Bool = {
    val idle = modules.map(RegNext(_) init False).reduce(_ && _)
    History(idle, 6, init = False).andR
  }

  /** The port `nextDeadline`: the earliest instant of those modules that wait for the time, in ns; all ones: there is
    * none.
    */
  def nextDeadline(modules: NextInstant*): UInt = {
    val next = modules.map(RegNext(_)).reduceBalancedTree(NextInstant.earlier, (next, _) => RegNext(next))
    next.armed ? next.at.ns | U(48 bits, default -> true)
  }
}
