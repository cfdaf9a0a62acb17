// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** Registers the handshake of a stream in both directions, but not its payload, which the source holds. It is for wide
  * words that are rare: a transfer takes three clocks.
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
