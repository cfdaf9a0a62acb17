// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib.bus.amba4.axi.Axi4Config

/** The AXI4 port of one mover: the memory's own, without the bit of the identifier in which the arbiter notes the
  * mover.
  */
object MemoryPort {
  def config(config: DownbeatConfig): Axi4Config = config.memory.copy(idWidth = config.memory.idWidth - 1)

  /** Bytes that one burst can reach: 256 beats of 64 bits, fewer of wider ones. Buffers are multiples of it, so that a burst that stays in
    * its page neither crosses 4 KiB (AXI4 A3.4.1) nor leaves its flow's buffer.
    */
  val pageBytes: Int = 2048
  /** Width of the number of a word in its page. */
  def pageWordBits(config: DownbeatConfig): Int = log2Up(pageBytes / config.beatBytes)
}
