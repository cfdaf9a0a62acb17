// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** What the network says of a segment of ours (ICMP), instead of the peer. */
object IcmpErrorKind extends SpinalEnum {
  /** No ICMP error: a segment of the peer. */
  val none = newElement()
  /** It did not arrive; `window` says why, a NetworkError's bits. */
  val unreachable = newElement()
  /** It is too long for the path; `window` says how many payload bytes get through. */
  val tooBig = newElement()
}

/** The ICMP messages that say why a packet did not arrive (RFC 792): types 3, 11 and 12. */
object NetworkErrorKind extends SpinalEnum {
  val none, unreachable, timeExceeded, parameterProblem = newElement()
}

/** An ICMP error about a segment of ours, by its type and code. */
case class NetworkError() extends Bundle {
  val kind = NetworkErrorKind()
  val code = UInt(4 bits)

  /** RFC 9293 3.9.2.2: nobody takes TCP, or nobody listens there, for good. */
  def isHard: Bool = kind === NetworkErrorKind.unreachable && (code === 2 || code === 3)
}

object NetworkError {
  /** As the window of an ICMP error has it. */
  def ofWindow(window: UInt): NetworkError = window.asBits.resize(widthOf(NetworkError())).as(NetworkError())
}
