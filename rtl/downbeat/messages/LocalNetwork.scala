// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Our network: run-time values, not build constants. */
case class LocalNetwork() extends Bundle {
  /** Leading ones; zero: every address is on our network. */
  val netmask = UInt(32 bits)
  /** Next hop to all other networks; zero: there is none. */
  val gateway = UInt(32 bits)
}
