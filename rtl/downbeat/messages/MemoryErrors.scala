// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Transfers for which the payload memory responded SLVERR or DECERR, since reset. Each ends its connection. */
case class MemoryErrors(bits: Int) extends Bundle {
  /** Received segments; chunks of application data; payload of segments to send; deliveries to the application. */
  val place, accept, fetch, deliver = UInt(bits bits)
}
