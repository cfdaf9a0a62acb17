// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** Reads the word of an address in a [[WideMemory]] that is written meanwhile: it waits while just that word is
  * written.
  *
  * `newest` is valid three clocks after `request`, later by each clock of such a write. One at a time.
  *
  * @param write the address that is written in this clock
  */
class NewestRead[T <: Data](memory: Mem[T], request: Flow[UInt], write: Flow[UInt]) extends Area {
  private val address = RegNextWhen(request.payload, request.valid)
  private val collides = write.valid && write.payload === address
  private val waits = RegInit(False)
  when(waits && !collides)(waits := False)
  when(request.valid)(waits := True)
  private val word = memory.readSync(address, waits)
  private val arrived = RegNext(waits && !collides) init False

  val newest: Flow[T] = Flow(memory.wordType)
  newest.valid := RegNext(arrived) init False
  newest.payload := RegNextWhen(word, arrived)
  val busy: Bool = waits || arrived || newest.valid
}
