// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** The states of RFC 9293 3.3.2. A free flow is `closed` too. */
object TcpState extends SpinalEnum {
  val closed, synSent, synReceived, established, finWait1, finWait2, closeWait, closing, lastAck, timeWait =
    newElement()
}

/** Why a connection ended. */
object CloseReason extends SpinalEnum {
  val none, finished, refused, reset, timedOut, aborted, outOfResources, addressInUse, memoryError, unreachable =
    newElement()
  /** No such policy in this build; a policy does not take that argument. */
  val unknownPolicy, policyArgument = newElement()
  /** A `start` while something is in flight, or for no established connection. */
  val inFlight = newElement()
}
