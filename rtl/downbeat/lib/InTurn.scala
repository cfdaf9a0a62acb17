// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** One stream of several modules' words, round robin.
  *
  * Registers for valid, payload and ready separate its two sides: a word of one module does not make another module
  * wait in the same clock.
  */
object InTurn {
  def apply[T <: Data](streams: Stream[T]*): Stream[T] =
    StreamArbiterFactory().roundRobin.transactionLock.on(streams).halfPipe()
}
