// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** RFC 9293 3.3.2; `closed` is also the state of a flow that nobody uses. */
object TcpState extends SpinalEnum {
  val closed, synSent, synReceived, established, finWait1, finWait2, closeWait, closing, lastAck, timeWait = newElement()
}

/** Why a connection ended. */
object CloseReason extends SpinalEnum {
  val none, finished, refused, reset, timedOut, aborted, outOfResources, addressInUse, memoryError, unreachable = newElement()
  /** No such policy in this build; a policy does not take that argument. */
  val unknownPolicy, policyArgument = newElement()
}
