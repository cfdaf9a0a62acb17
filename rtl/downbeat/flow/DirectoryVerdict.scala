// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.wire.TcpFlags
import spinal.core._

/** The directory's findings when the lookup is done. */
case class DirectoryFindings() extends Bundle {
  val kind = LookupKind()
  val found = Bool()
  /** If `found`: by a place in TIME-WAIT. */
  val inTimeWait = Bool()
  /** One of the 4-tuple's buckets has a free slot. */
  val space = Bool()
  /** A flow is free. */
  val flowFree = Bool()
  val flags = TcpFlags() // the segment's
  val isIcmpError = Bool() // the segment is an ICMP error about one of ours
  /** The local port listens. */
  val listening = Bool()
  /** Too many handshakes are under way; ACKs may bring cookies. */
  val crowded, cookiesExpected = Bool()
  /** For an open request: it wants to know where to begin with its ports; the port was chosen, and nobody uses it. */
  val portWanted, portFree = Bool()
}

/** Decides what becomes of a segment, an open request or a released flow. For a segment of no connection it follows the
  * groups CLOSED and LISTEN of RFC 9293 3.10.7: 3.10.7.1 if no application listens on the port, 3.10.7.2 if one does.
  */
case class DirectoryVerdict() extends Bundle {
  val isSegment, isOpen, isRelease, isExpiry = Bool()
  val found, listening = Bool()
  /** A segment of a connection. */
  val known = Bool()
  /** A segment of a connection in TIME-WAIT, which [[TimeWaitVerdict]] judges. If that lets a SYN make the next
    * connection: a listener and a flow are there; a listener is, and no flow.
    */
  val waits, mayReopen, lacksFlow = Bool()
  /** A SYN makes a connection; an open request does. */
  val accepted, opened = Bool()
  /** An open request receives the number at which its search for a port begins. */
  val choosesPort = Bool()
  /** A SYN that finds no place is answered with a cookie. */
  val postponed = Bool()
  /** An ACK may bring a cookie back: if it does, it makes a connection where there is place for one. */
  val returns = Bool()
  /** A segment gets a RST, unless it brings a cookie. */
  val stateless = Bool()
  /** A segment that is no ICMP error goes nowhere, whether answered or not, unless it brings a cookie. */
  val lost = Bool()
  /** No flow is free; both buckets are full. */
  val noFlow, noBucket = Bool()
  /** An ICMP error about no connection's segment. */
  val aboutNobody = Bool()
  /** A flow goes back to the free list. */
  val over = Bool()
  /** There is a new connection; there is place for one; there has to be a number first. */
  val made, available, wantsNumber = Bool()
}

object DirectoryVerdict {
  def apply(findings: DirectoryFindings): DirectoryVerdict = {
    import findings._
    val verdict = DirectoryVerdict()
    verdict.isSegment := kind === LookupKind.segment
    verdict.isOpen := kind === LookupKind.open
    verdict.isRelease := kind === LookupKind.release
    verdict.isExpiry := kind === LookupKind.expiry
    verdict.found := found
    verdict.listening := listening
    verdict.noFlow := !flowFree
    verdict.noBucket := flowFree && !space

    val stranger = verdict.isSegment && !found
    val isConnectionRequest = stranger && listening && flags.syn && !flags.ack && !flags.rst
    val available = flowFree && space
    verdict.available := available
    verdict.known := verdict.isSegment && found && !inTimeWait
    verdict.waits := verdict.isSegment && found && inTimeWait && !isIcmpError
    verdict.mayReopen := listening && flowFree && !crowded
    verdict.lacksFlow := listening && !(flowFree && !crowded)
    verdict.accepted := isConnectionRequest && available && !crowded
    verdict.opened := verdict.isOpen && portFree && !found && available
    verdict.choosesPort := verdict.isOpen && portWanted
    verdict.postponed := isConnectionRequest && !(available && !crowded)
    verdict.returns := stranger && !isIcmpError && listening && flags.ack && !flags.syn && !flags.rst && cookiesExpected
    // Without ACK and SYN there is nothing to answer on a port that listens (3.10.7.2, fourth).
    verdict.stateless := stranger && !isIcmpError && !flags.rst && (flags.ack || !listening)
    verdict.lost := stranger && !isIcmpError && !verdict.accepted
    verdict.aboutNobody := verdict.isSegment && !verdict.known && isIcmpError
    verdict.over := verdict.isRelease && found
    verdict.made := verdict.accepted || verdict.opened
    verdict.wantsNumber := verdict.made || verdict.choosesPort || verdict.postponed || verdict.returns || verdict.waits
    verdict
  }
}
