// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Sixteen bits of an event whose meaning depends on its kind: one view for each. */
case class WindowField() extends Bundle {
  val value = UInt(16 bits)

  /** The window of a segment or of a `sent`, as on the wire, not scaled. */
  def window: UInt = value
  /** The reason of `unreachable`: why the segment did not arrive. */
  def networkError: NetworkError = value.asBits.resize(widthOf(NetworkError())).as(NetworkError())
  /** The size of `tooBig`: payload bytes of the largest segment that the path takes. */
  def pathPayload: UInt = value
}
