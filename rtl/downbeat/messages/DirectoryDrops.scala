// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** Segments and commands that the directory dropped or put off, by cause, since reset. The counters wrap. */
case class DirectoryDrops(bits: Int) extends Bundle {
  /** ACKs that brought a cookie, and SYNs that would have ended TIME-WAIT, while no flow was free; ACKs with a cookie
    * whose buckets of the hash table were both full. The peer tries again.
    */
  val synNoFlow, synNoBucket = UInt(bits bits)
  /** SYNs for a listening port that were answered with a cookie; connections that cookies made; segments that were
    * taken for an ACK of one and were none, which `noConnection` counts too.
    */
  val cookiesSent, cookiesAccepted, cookiesRefused = UInt(bits bits)
  /** Any other segment of no connection, answered by a RST or not (RFC 9293 3.10.7.1 and 3.10.7.2). */
  val noConnection = UInt(bits bits)
  /** An answer to a segment that no flow has, cookie, RST or ACK of TIME-WAIT, because too many waited. */
  val resets = UInt(bits bits)
  /** ICMP errors about segments of no connection. */
  val icmpErrors = UInt(bits bits)
  /** Segments of connections in TIME-WAIT, without SYNs that end it, or would while a flow is free. */
  val timeWaitSegments = UInt(bits bits)
  /** Connections that left TIME-WAIT early, because a newer one needed their place. */
  val timeWaitsGivenUp = UInt(bits bits)
}
