// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import spinal.core._

/** The kinds of event. Nothing but an event changes a connection. */
object EventKind extends SpinalEnum {
  /** A segment arrived (`fresh`: the SYN that makes a connection). */
  val segment = newElement()
  /** Payload, and perhaps a FIN, is in memory: `length` bytes from `sequence` on. */
  val placed = newElement()
  /** The application opens a connection. */
  val open = newElement()
  /** `length` more bytes are in the send buffer; with URG in `flags`, urgent ones. */
  val written = newElement()
  /** The application has read `length` bytes. */
  val consumed = newElement()
  /** The application will send no more; what is written still goes, then FIN. */
  val shutdown = newElement()
  /** The application has forgotten the connection: shutdown, and nothing will be read. */
  val close = newElement()
  /** The application has forgotten the connection, and the peer gets a RST. */
  val abort = newElement()
  /** The application chooses other policies, or tells them something else; the windows stay. */
  val setPolicies = newElement()
  /** The pacer: a segment may go at `stamp`. */
  val grant = newElement()
  /** A descriptor left the engine: `sequence`, `length`, FIN and SYN in `flags`, and the `acknowledgment` and `window`
    * that it bears.
    */
  val sent = newElement()
  /** The SFD of a data segment that ends before `sequence` left at `stamp`. */
  val departed = newElement()
  /** A deadline has passed. */
  val timer = newElement()
  /** Recovery has given the connection up. */
  val failed = newElement()
  /** The network: the segment at `sequence` did not arrive; the view `networkError` of `window` says why. */
  val unreachable = newElement()
  /** The network: the segment at `sequence` is too long for the path; `pathPayload` bytes are not. */
  val tooBig = newElement()
  /** A long calculation has its response. */
  val calculated = newElement()
  /** The rate estimator has taken an ACK into account. */
  val estimated = newElement()
  /** The application restarts the connection with what the host knows of the path. */
  val start = newElement()
  /** Inline measurement wants a stream of probes, or knows more of the path. */
  val measured = newElement()
  /** The application changes the connection's times: the view `ConnectionTimes` of `length`. */
  val setTimes = newElement()
}
