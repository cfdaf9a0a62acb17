// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** How the host has the first window leave. */
object StartPace extends SpinalEnum {
  /** As its policies say. */
  val none = newElement()
  /** A segment each `gap`. */
  val even = newElement()
  /** By a token bucket of four segments that fills by one each `gap` (TCP/SPAND). */
  val bucket = newElement()
}

/** Initial values of a connection, besides its ssthresh, from the host's knowledge of the path. All zeros: none. It
  * counts as the connection is established, or with the command `start`.
  */
case class HostStart() extends Bundle {
  /** The initial window, segments; zero: the connection's own, unpaced. */
  val window = UInt(16 bits)
  val pace = StartPace()
  /** ns between two segments of that window, 16 fraction bits. */
  val gap = UInt(52 bits)
  /** The last instant, ns, at which all this holds; zero: it always does. Later the start-up policy is `standard`. */
  val until = UInt(48 bits)
  /** The path's round trip, ns; zero: not known. Until the connection has a sample of its own, its RTO is this one's.
    */
  val roundTrip = UInt(36 bits)
}
