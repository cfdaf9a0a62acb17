// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** A static entry is written, or removed. */
case class StaticNeighbour() extends Bundle {
  val ip = UInt(32 bits)
  val mac = Bits(48 bits)
  val remove = Bool()
}
