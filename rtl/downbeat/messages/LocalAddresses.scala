// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Our own addresses: run-time values, not build constants. */
case class LocalAddresses() extends Bundle {
  val mac = Bits(48 bits)
  val ip = UInt(32 bits)
}
