// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.time.Instant
import spinal.core._
import spinal.lib.misc.pipeline._

/** The congestion seam: what a policy sees of an event and what it answers.
  *
  * Two policies share a connection. While cwnd < ssthresh the ''start-up'' policy says how the window grows;
  * from cwnd = ssthresh on the ''steady'' policy does, and it alone says what ssthresh a loss leaves. What lies
  * between loss and recovery (inflation, deflation, the loss window) is RFC 6582's and the stage's own.
  */
object CongestionEventKind extends SpinalEnum {
  /** Nothing that concerns the window. */
  val none = newElement()
  /** The connection is made: the start-up policy sets window and ssthresh. */
  val established = newElement()
  /** New data is acknowledged, outside recovery: start-up or steady policy grows the window. */
  val acknowledged = newElement()
  /** A loss was detected by duplicate ACKs: the steady policy answers with the new ssthresh. */
  val loss = newElement()
  /** The retransmission timer expired for the first time for this data: likewise; within a recovery ssthresh rises no more. */
  val timeout = newElement()
  /** It expired again; ssthresh stays. */
  val timeoutAgain = newElement()
  /** In recovery: another duplicate ACK, an ACK of part of the data, an ACK of all of it. The stage's own. */
  val duplicate, partial, recovered = newElement()
  /** A segment of new data has left the engine; its frame follows. */
  val sent = newElement()
  /** The ACK that the first half of an inverted pair brings back: no duplicate, though it repeats a number. While `startingUp` the
    * start-up policy may grow the window.
    */
  val paired = newElement()
  /** A long calculation has its answer ([[Calculated]]): the policy that had asked sets the windows. */
  val calculated = newElement()
}

/** One event, as every policy sees it. */
case class CongestionEvent() extends Bundle {
  val kind = CongestionEventKind()
  /** cwnd < ssthresh: growth is the start-up policy's. Late on a policy's first node: use it from the second on. */
  val startingUp = Bool()
  /** Bytes that this event acknowledges for the first time. */
  val ackedBytes = UInt(32 bits)
  /** With `loss`: the window is not inflated by the three duplicates; SACK says what has left the network (RFC 6675), or nothing is lost
    * but marked. With `timeout`: no loss was being repaired, so the flight is not inflated, and ssthresh is what the policy says.
    */
  val uninflated = Bool()
  /** Bytes in flight before the event; with `loss` and `timeout` at most cwnd: what limited transmit added does not count (RFC 5681 3.2).
    * Late on a policy's first node.
    */
  val flight = UInt(32 bits)
  /** Sender's maximum segment size, bytes. */
  val segmentSize = UInt(16 bits)
  /** A round-trip sample, ns between the stamps at the wire. */
  val rttValid = Bool()
  val rtt = UInt(36 bits)
  /** The smallest sample of the connection so far, this one included; all ones: none yet, or no policy of the build compares with it. */
  val rttMinimum = UInt(36 bits)
  /** The connection's initial window (segments) and ssthresh (bytes), with `established` alone: behind it nothing keeps them. */
  val initialWindow = UInt(8 bits)
  val initialSsthresh = UInt(32 bits)
  /** With `sent`: it was sent as a probe, so it was a full segment; it was the first half of an inverted pair. */
  val sentProbe, sentAhead = Bool()
  val probe = ProbeAnswer()
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

/** A policy's answer: windows and policy state as they are after the event; if it `paces`, how the next segment leaves; if it has a
  * calculator, what to ask it.
  */
case class PolicyAnswer(stateBits: Int, paces: Boolean = false, requestBits: Int = 0) extends Bundle {
  val window = Window()
  val policyState = Bits(stateBits bits)
  val departure = paces generate DeparturePlan()
  val calculation = (requestBits > 0) generate Calculation(requestBits)
}

/** The clocks in which a policy computes: `first` has event, windows and policy state in registers, and the answer is due
  * in `last`, three register steps later. At most one 48-bit addition or comparison and a 2:1 choice fit between two nodes.
  *
  * `now` is when the engine took the event, ns; `calculating`: the connection has a calculation under way, another would not be taken;
  * `calculated` is read with the kind of that name.
  */
class PolicyPipe(
    val nodes: Seq[Node], val event: Payload[CongestionEvent], val window: Payload[Window], val policyState: Payload[Bits],
    val now: Payload[Instant], val calculating: Payload[Bool], val calculated: Payload[Calculated]) {
  require(nodes.size == PolicyPipe.steps + 1)
  def first: Node = nodes.head
  def last: Node = nodes.last
}

object PolicyPipe {
  /** Register steps between a policy's first and last node. */
  val steps = 3
}

/** One answer per event, for every event, from that event and state alone. A policy keeps no registers of its own beyond its pipeline:
  * whatever it must remember is in its policy state of `stateBits`.
  */
trait Policy {
  /** The name in commands, reports and documentation; lower case. */
  def name: String
  def stateBits: Int
  /** What a connection may tell it: the policy state begins as these bits, with zeros above them. */
  def arguments: Arguments = Arguments()
  final def argumentBits: Int = arguments.bits
  /** It says how segments leave ([[DeparturePlan]]); one that does not leaves them as the connection was opened. */
  def paces: Boolean = false
  /** It reads `rttMinimum`. */
  def comparesRoundTrips: Boolean = false
  /** Whom it asks for what takes longer than its nodes. */
  def calculator: Option[Calculator] = None
  final def requestBits: Int = calculator.fold(0)(_.requestBits)
  def build(pipe: PolicyPipe): Payload[PolicyAnswer]
}

/** Grows the window from the opening to ssthresh. Its windows are taken on `established` and, while `startingUp`, on `acknowledged`; on
  * `calculated` if it had asked; its policy state always.
  */
trait StartupPolicy extends Policy

/** Grows the window from ssthresh on and answers a loss. Its windows are taken on `acknowledged` when not `startingUp`, and its ssthresh on
  * `loss` and `timeout`; its windows on `calculated` if it had asked; its policy state always.
  */
trait SteadyPolicy extends Policy
