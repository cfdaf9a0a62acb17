// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.config.DownbeatConfig
import downbeat.congestion.{
  Calculated, CongestionEventKind, DeparturePlan, InlineResult, InlineTold, ProbeAnswer, RateWindows, Window
}
import downbeat.messages.{
  CloseReason, ConnectionParameters, EventKind, PayloadReference, TcpOptions, TcpState, WindowField
}
import downbeat.time.{Instant, Stamp}
import downbeat.wire.{LaunchMode, NearNumber, SackBlock, SequenceNumber, TcpFlags}
import spinal.core._
import spinal.lib.misc.pipeline._

/** What travels with an event, by the stage that gives it. Values of a connection are those after the event unless
  * named otherwise.
  */
class Signals(config: DownbeatConfig) {
  // The event, from the arbiter
  val KIND = Payload(EventKind())
  val FLOW = Payload(UInt(config.flowBits bits))
  val GENERATION = Payload(UInt(config.generationBits bits))
  val NOW = Payload(Instant())
  /** How often NOW has wrapped, modulo 16. */
  val EPOCH = Payload(UInt(4 bits))
  val FRESH = Payload(Bool())
  /** Its SYN and ACK has gone before there was a connection. */
  val COOKIE = Payload(Bool())
  val SEQUENCE = Payload(SequenceNumber())
  val ACKNOWLEDGMENT = Payload(SequenceNumber())
  val FLAGS = Payload(TcpFlags())
  /** A window, or what an ICMP error says in its place: the view is the kind's. */
  val WINDOW_FIELD = Payload(WindowField())
  val URGENT_POINTER = Payload(UInt(16 bits))
  val OPTIONS = Payload(TcpOptions(config))
  val LENGTH = Payload(UInt(32 bits))
  val PAYLOAD = Payload(PayloadReference(config))
  /** The segment was marked on its way (CE). */
  val MARKED = Payload(Bool())
  val STAMP = Payload(Stamp())
  val PARAMETERS = Payload(ConnectionParameters(config))
  val INITIAL_SEQUENCE = Payload(SequenceNumber())
  val TIMESTAMP_OFFSET = Payload(UInt(32 bits))
  /** The memory has refused bytes of the connection: it cannot go on. */
  val MEMORY_ERROR = Payload(Bool())
  /** A departure's: later than it should have been. */
  val LATE = Payload(Bool())
  /** A grant's: how the frame leaves. */
  val MODE = Payload(LaunchMode())
  /** Of a `sent`: its ACK is to be told (a probe of the path); it begins a train. */
  val MEASURED, BEGINS = Payload(Bool())
  /** Of a `calculated`, of an `estimated`, and of a `measured`. */
  val CALCULATED = Payload(Calculated())
  val ESTIMATED = Payload(RateWindows())
  val MEASURED_INLINE = Payload(InlineResult())

  // From protocol
  /** The event meets the connection that it means; nothing changes otherwise. */
  val LIVE = Payload(Bool())
  /** The generation of the connection that it meets or makes; an application's event does not bring one. */
  val CONNECTION = Payload(UInt(config.generationBits bits))
  /** It makes the connection. */
  val OPENING = Payload(Bool())
  /** The handshake is complete with this event. */
  val ESTABLISHED = Payload(Bool())
  /** The host restarts the connection, and may (with `hostStart`). */
  val STARTS = Payload(Bool())
  val STATE = Payload(TcpState())
  val REASON = Payload(CloseReason())
  /** SND.UNA, SND.MAX, and one past the last byte that the application has written. */
  val UNACKNOWLEDGED = Payload(SequenceNumber())
  val HIGHEST_SENT = Payload(SequenceNumber())
  val WRITTEN = Payload(SequenceNumber())
  /** FIN follows the last byte written. */
  val FINISHING = Payload(Bool())
  /** Urgent data is not acknowledged yet; SND.UP, its end, by its low bits. */
  val URGENT = Payload(Bool())
  val URGENT_END = Payload(NearNumber(config.sendNumberBits))
  /** SND.MAX - SND.UNA before the event, less the hole that an inverted pair leaves, and after it. */
  val OUTSTANDING_BEFORE = Payload(UInt(32 bits))
  val OUTSTANDING = Payload(UInt(32 bits))
  /** Bytes acknowledged for the first time, and whether there are any. */
  val ACKED = Payload(UInt(32 bits))
  val ADVANCED = Payload(Bool())
  /** A duplicate ACK (RFC 5681 section 2). */
  val DUPLICATE = Payload(Bool())
  /** An acceptable ACK that repeats SND.UNA while data is outstanding; some are no duplicates. */
  val REPEATED = Payload(Bool())
  /** A `sent` whose segment had been sent before. */
  val RESENT = Payload(Bool())
  /** A `sent` that left a hole before it: the first half of an inverted pair. The hole is one segment long. */
  val AHEAD = Payload(Bool())
  /** A `sent` that filled it: the second half. */
  val FILLS = Payload(Bool())
  /** Peer's window, bytes from SND.UNA. */
  val SEND_WINDOW = Payload(UInt(32 bits))
  /** By how many bits it is scaled. */
  val PEER_SCALE = Payload(UInt(4 bits))
  /** The largest that it has offered: MAX.SND.WND, bytes. */
  val LARGEST_WINDOW = Payload(UInt(31 bits))
  /** What was sent last has not been taken, though nothing is congested: the peer's window was shut and is open, the
    * path was too narrow for it, or both ends have sent a SYN and now owe a SYN-ACK.
    */
  val RESUMED = Payload(Bool())
  /** SMSS: the peer's MSS or ours, whichever is smaller. */
  val SEGMENT_SIZE = Payload(UInt(16 bits))
  val RECEIVED = Payload(SequenceNumber())
  /** The window from RCV.NXT on, if this event announces one, and whether windows are scaled. */
  val RECEIVE_WINDOW = Payload(UInt(25 bits))
  val SCALING = Payload(Bool())
  /** What lies in memory beyond RCV.NXT, the newest first. */
  val RECEIVED_RANGES = Payload(Vec.fill(DownbeatConfig.ranges)(SackBlock(config.receiveOffsetBits)))
  /** Selective acknowledgments are agreed upon, or, before the peer's SYN, offered. */
  val SELECTIVE = Payload(Bool())
  /** Timestamps likewise; TSval and TSecr of a segment that this event sends. */
  val TIMESTAMPED = Payload(Bool())
  val TIMESTAMP_VALUE, TIMESTAMP_ECHO = Payload(UInt(32 bits))
  /** ECN (RFC 3168) likewise; the peer says that our data was marked; outgoing ACKs say that its was. */
  val ECN_CAPABLE = Payload(Bool())
  val CONGESTION_ECHOED = Payload(Bool())
  val ECHOES_CONGESTION = Payload(Bool())
  /** A pure ACK is due; a RST is due, with or without ACK; the sequence number of either. */
  val ACK_DUE = Payload(Bool())
  val RESET_DUE = Payload(Bool())
  val REPLY_SEQUENCE = Payload(SequenceNumber())
  val RESET_ACKS = Payload(Bool())
  /** The connection is gone for good. */
  val RELEASE = Payload(Bool())
  /** The end of TIME-WAIT, or of FIN-WAIT-2 without an application; a delayed ACK; keep-alive. */
  val PROTOCOL_ARMED = Payload(Bool())
  val PROTOCOL_DEADLINE = Payload(Instant())

  // From recovery
  /** A loss is being repaired. */
  val RECOVERING = Payload(Bool())
  val CONGESTION_KIND = Payload(CongestionEventKind())
  /** Bytes in flight before the event; where duplicate ACKs tell of a loss, after it. */
  val FLIGHT = Payload(UInt(32 bits))
  val RTT_VALID = Payload(Bool())
  val RTT = Payload(UInt(36 bits))
  /** SND.UNA's segment is to be sent again, whatever the window. */
  val RETRANSMIT = Payload(Bool())
  /** So is a lost one. */
  val RETRANSMIT_LOST = Payload(Bool())
  /** Where that is, in bytes from SND.UNA, and how many bytes the peer lacks there. */
  val RETRANSMIT_OFFSET, RETRANSMIT_LIMIT = Payload(UInt(config.sendOffsetBits bits))
  /** Bytes that are outstanding and not in the network, as far as the peer has told, or count as such. */
  val WINDOW_ALLOWANCE = Payload(UInt(config.windowAllowanceBits bits))
  /** SND.NXT goes back to SND.UNA: the retransmission timer expired, or what was sent last was not taken. */
  val REWIND = Payload(Bool())
  /** The timer expired: what is next goes out, as much as the peer's window takes, one byte if it is shut. */
  val PROBE = Payload(Bool())
  /** Too many expiries in a row. */
  val GIVEN_UP = Payload(Bool())
  /** The window that a loss leaves is not inflated: SACK tells what has left the network, or nothing is lost but
    * marked. The flight of a timeout is not: no loss was being repaired.
    */
  val UNINFLATED = Payload(Bool())
  /** The user timeout (RFC 9293 3.8.3). */
  val USER_TIMEOUT_ARMED = Payload(Bool())
  val USER_TIMEOUT_DEADLINE = Payload(Instant())
  val RECOVERY_ARMED = Payload(Bool())
  val RECOVERY_DEADLINE = Payload(Instant())

  // From measure
  val RTT_MINIMUM = Payload(UInt(36 bits))
  val PROBE_ANSWER = Payload(ProbeAnswer())
  /** The connection's estimated rates; the estimator has taken this event. */
  val RATES = Payload(RateWindows())
  val ESTIMATES = Payload(Bool())
  /** What inline measurement knows and wants; what it was told with this event. */
  val INLINE = Payload(InlineResult())
  val INLINE_TOLD = Payload(InlineTold())

  // From transmit
  /** SND.NXT. */
  val NEXT_SEND = Payload(SequenceNumber())

  // From congestion
  val WINDOW = Payload(Window())
  /** How the next new segment leaves; `configured`: at `time` ns per byte, if that is not zero. */
  val DEPARTURE = Payload(DeparturePlan())
}
