// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** Kinds of event, as policies see them. */
object CongestionEventKind extends SpinalEnum {
  /** Nothing that concerns the window. */
  val none = newElement()
  /** The connection is established: the start-up policy sets window and ssthresh. */
  val established = newElement()
  /** New data is acknowledged outside recovery: the start-up or the steady policy grows the window. */
  val acknowledged = newElement()
  /** Duplicate ACKs report a loss: the steady policy sets the new ssthresh. */
  val loss = newElement()
  /** The retransmission timer expired for the first time for this data: as `loss`. In recovery ssthresh rises no more.
    */
  val timeout = newElement()
  /** It expired again. ssthresh stays. */
  val timeoutAgain = newElement()
  /** In recovery: another duplicate ACK, an ACK of part of the data, an ACK of all of it. The stage handles these
    * itself.
    */
  val duplicate, partial, recovered = newElement()
  /** A segment of new data has left the engine. Its frame follows. */
  val sent = newElement()
  /** The ACK of the first half of an inverted pair. It repeats a number but is no duplicate. While `startingUp` the
    * start-up policy may grow the window.
    */
  val paired = newElement()
  /** A long calculation has its response ([[Calculated]]): the policy that requested it sets the windows. */
  val calculated = newElement()
  /** Data waits after an idle time longer than the RTO: the start-up policy sets the window (RFC 5681 4.1), unless the
    * steady policy `modelsPath`.
    */
  val restart = newElement()
  /** `rates` are new: the start-up policy may set the windows. */
  val estimated = newElement()
  /** `inline` is new: the steady policy may set the windows. */
  val measured = newElement()
  /** The last `loss` or `timeout` was spurious: the stage gives back the windows and, unless the steady policy
    * `modelsPath`, its state of before.
    */
  val undone = newElement()
}

/** One event, as every policy sees it. */
case class CongestionEvent() extends Bundle {
  val kind = CongestionEventKind()
  /** cwnd < ssthresh: the start-up policy grows the window. Late on a policy's first node: use it from the second on.
    */
  val startingUp = Bool()
  /** Bytes that this event acknowledges for the first time. */
  val ackedBytes = UInt(32 bits)
  /** With `loss`: the window is not inflated by the three duplicates, because SACK says what has left the network (RFC
    * 6675), or because a segment was marked and none was lost. With `timeout`: no recovery was under way, so the flight
    * is not inflated and ssthresh is the policy's.
    */
  val uninflated = Bool()
  /** Loss recovery is under way after the event (RFC 6582, RFC 6675). */
  val recovering = Bool()
  /** Bytes in flight before the event. With `loss` and `timeout` at most cwnd: what limited transmit added does not
    * count (RFC 5681 3.2). If duplicate ACKs report the loss, what the same ACK acknowledges does not count. Late on a
    * policy's first node.
    */
  val flight = UInt(32 bits)
  /** Sender's maximum segment size (SMSS), bytes. */
  val segmentSize = UInt(16 bits)
  /** A round-trip sample: ns between the stamps at the wire. Up to 32 segments in flight are timed, or, without RACK, one
    * at a time.
    */
  val rttValid = Bool()
  val rtt = UInt(36 bits)
  /** The sample is that of a full segment. */
  val rttFull = Bool()
  /** The sample is the first of its round trip, as the smoothed round trip takes it. */
  val rttFirst = Bool()
  /** The smallest sample of a full segment so far, this one included; before there is one, the smallest of all. All
    * ones: none yet.
    */
  val rttMinimum = UInt(36 bits)
  /** The connection's initial window (segments) and initial ssthresh (bytes). The latter is valid with
    * `established`.
    */
  val initialWindow = UInt(8 bits)
  val initialSsthresh = UInt(32 bits)
  /** With `sent`: the segment was sent as a probe, so it was a full segment. It was the first half of an inverted pair.
    */
  val sentProbe, sentAhead = Bool()
  val probe = ProbeAck()
  /** When the SFD of an ACK arrived, ns; and whether it repeats a number: a duplicate ACK, or the ACK of the first half
    * of an inverted pair.
    */
  val arrival = UInt(48 bits)
  val repeated = Bool()
  /** As far as they are known: the latest ACKs may be missing. Zeros in a build where no policy `estimatesRates`. */
  val rates = RateWindows()
  /** The result of inline measurement. Zeros in a build where no policy `measuresInline`. */
  val inline = InlineResult()

  /** The ACK times a round trip: of a probe, or of a segment that the engine times; and that round trip, ns. */
  def isTimed: Bool = probe.answered || rttValid
  def roundTrip: UInt = probe.answered ? probe.roundTrip | rtt

  /** A loss, or the first timeout of this data: both reduce ssthresh. */
  def isLoss: Bool = kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout
}

/** Window state: bytes with 16 fraction bits, in every policy. */
case class Window() extends Bundle {
  val cwnd = UInt(48 bits)
  val ssthresh = UInt(48 bits)
}

object Window {
  /** Whole bytes as a window. */
  def ofBytes(bytes: UInt): UInt = bytes.resize(32) @@ U(0, 16 bits)
  /** No window is larger, 1 GiB: what 14 bits of window scale can announce. */
  val maximumBytes: BigInt = BigInt(1) << 30
}
