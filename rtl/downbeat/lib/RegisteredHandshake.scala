// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** A stream with registers in its handshake both ways, and none for its payload, which stays where its source has it: for wide words that are
  * rare. One takes three clocks.
  */
object RegisteredHandshake {
  def apply[T <: Data](source: Stream[T]): Stream[T] = {
    val sink = cloneOf(source)
    val taken = RegNext(sink.fire) init False
    sink.valid := RegInit(False) setWhen (source.valid && !taken) clearWhen sink.fire
    sink.payload := source.payload
    source.ready := taken
    sink
  }
}
