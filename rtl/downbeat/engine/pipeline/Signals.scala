// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.config.DownbeatConfig
import downbeat.congestion.{
  Calculated, CongestionEventKind, DeliverySample, DeparturePlan, InlineResult, InlineUpdate, ProbeAck, RateWindows,
  Window
}
import downbeat.messages.{
  CloseReason, ConnectionParameters, EventKind, PayloadReference, TcpOptions, TcpState, WindowField
}
import downbeat.time.{Epoch, Instant, Stamp}
import downbeat.wire.{LaunchMode, NearNumber, SackBlock, SequenceNumber, TcpFlags}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The values that travel with an event, by the stage that assigns them. Values of a connection are those after the
  * event unless named otherwise.
  */
class Signals(config: DownbeatConfig) {
  // ---- the event, from the arbiter

  /** Kind of the event. */
  val KIND = Payload(EventKind())
  /** Number of the flow: the address of its words in the stages' memories. */
  val FLOW = Payload(UInt(config.flowBits bits))
  /** Generation that the event means: a flow's connections in turn. */
  val GENERATION = Payload(UInt(config.generationBits bits))
  /** Time at which the event enters the pipeline, ns. */
  val NOW = Payload(Instant())
  /** Wraps of NOW. */
  val EPOCH = Payload(UInt(Epoch.bits bits))
  /** The SYN for which the directory has just created the flow, or the ACK of its cookie. */
  val FRESH = Payload(Bool())
  /** SYN cookie (RFC 4987 3.6): the SYN-ACK was sent before there was a connection. */
  val COOKIE = Payload(Bool())
  /** SEG.SEQ (RFC 9293 3.3.1); for a `sent`, the first number that the segment takes. */
  val SEQUENCE = Payload(SequenceNumber())
  /** SEG.ACK. */
  val ACKNOWLEDGMENT = Payload(SequenceNumber())
  /** Control bits of the segment (RFC 9293 3.1). */
  val FLAGS = Payload(TcpFlags())
  /** SEG.WND, not scaled, or the values of an ICMP error in its place: KIND chooses the view. */
  val WINDOW_FIELD = Payload(WindowField())
  /** SEG.UP: urgent pointer, bytes from SEG.SEQ. */
  val URGENT_POINTER = Payload(UInt(16 bits))
  /** TCP options of the segment. */
  val OPTIONS = Payload(TcpOptions(config))
  /** SEG.LEN without SYN and FIN, bytes; for an application's event, the bytes that it wrote or read. */
  val LENGTH = Payload(UInt(32 bits))
  /** Place of the payload in the receive slots. */
  val PAYLOAD = Payload(PayloadReference(config))
  /** CE (RFC 3168): the segment was marked on its way. */
  val MARKED = Payload(Bool())
  /** Time of the segment's SFD, ns. */
  val STAMP = Payload(Stamp())
  /** Parameters of the open or listen command, for an event that makes a connection. */
  val PARAMETERS = Payload(ConnectionParameters(config))
  /** ISS: initial send sequence number. */
  val INITIAL_SEQUENCE = Payload(SequenceNumber())
  /** Offset of TSval from the clock (RFC 7323 7.1), in units of 2^20 ns. */
  val TIMESTAMP_OFFSET = Payload(UInt(32 bits))
  /** The memory has refused bytes of the connection, which therefore ends. */
  val MEMORY_ERROR = Payload(Bool())
  /** A departure was later than its schedule. */
  val LATE = Payload(Bool())
  /** Launch of a granted frame: at its instant, at once, or behind the frame before it. */
  val MODE = Payload(LaunchMode())
  /** A `sent` segment is a probe of the path: its ACK is reported. */
  val MEASURED = Payload(Bool())
  /** A `sent` segment begins a train of probes. */
  val BEGINS = Payload(Bool())
  /** A `sent` segment went between the two halves of an inverted pair, or it is the second. */
  val HALF_WAY = Payload(Bool())
  /** Result of a long calculation, with a `calculated`. */
  val CALCULATED = Payload(Calculated())
  /** Rates over the smallest round trip, bytes, with an `estimated`. */
  val ESTIMATED = Payload(RateWindows())
  /** Result of inline measurement, with a `measured`. */
  val MEASURED_INLINE = Payload(InlineResult())

  // ---- from protocol

  /** The event belongs to the flow's connection; otherwise nothing changes. */
  val LIVE = Payload(Bool())
  /** Generation of the connection that the event belongs to or opens; an application's event has none of its own. */
  val CONNECTION = Payload(UInt(config.generationBits bits))
  /** The event opens the connection. */
  val OPENING = Payload(Bool())
  /** The event completes the handshake. */
  val ESTABLISHED = Payload(Bool())
  /** The host restarts the connection, which has nothing in flight (builds with `hostStart`). */
  val STARTS = Payload(Bool())
  /** State of the connection (RFC 9293 3.3.2). */
  val STATE = Payload(TcpState())
  /** Reason of the connection's end. */
  val REASON = Payload(CloseReason())
  /** SND.UNA (RFC 9293 3.3.1): the first byte that is not acknowledged. */
  val UNACKNOWLEDGED = Payload(SequenceNumber())
  /** SND.MAX: one past the highest number that was sent. */
  val HIGHEST_SENT = Payload(SequenceNumber())
  /** One past the last byte that the application has written. */
  val WRITTEN = Payload(SequenceNumber())
  /** FIN follows the last byte written. */
  val FINISHING = Payload(Bool())
  /** SND.UP is beyond SND.UNA: urgent data is not acknowledged. */
  val URGENT = Payload(Bool())
  /** SND.UP: one past the last urgent byte, by its low bits. */
  val URGENT_END = Payload(NearNumber(config.sendNumberBits))
  /** SND.MAX - SND.UNA before the event, bytes, less the hole that an inverted pair leaves. */
  val OUTSTANDING_BEFORE = Payload(UInt(32 bits))
  /** SND.MAX - SND.UNA, bytes, less the hole that an inverted pair leaves. */
  val OUTSTANDING = Payload(UInt(32 bits))
  /** Bytes by which SND.UNA advances. */
  val ACKED = Payload(UInt(32 bits))
  /** SND.UNA advances. */
  val ADVANCED = Payload(Bool())
  /** Duplicate ACK (RFC 5681 section 2). */
  val DUPLICATE = Payload(Bool())
  /** Acceptable ACK that repeats SND.UNA while data is outstanding; not each is a DUPLICATE. */
  val REPEATED = Payload(Bool())
  /** The ACK, which is acceptable, says that data came twice (RFC 2883). */
  val CAME_TWICE = Payload(Bool())
  /** Retransmission: a `sent` whose segment had been sent before. */
  val RESENT = Payload(Bool())
  /** First half of an inverted pair: a `sent` that leaves a hole of one segment before it. */
  val AHEAD = Payload(Bool())
  /** Second half of an inverted pair: a `sent` that fills the hole. */
  val FILLS = Payload(Bool())
  /** SND.WND: the peer's window, bytes from SND.UNA. */
  val SEND_WINDOW = Payload(UInt(32 bits))
  /** Snd.Wind.Shift (RFC 7323 2.3): bits by which the peer's window is scaled. */
  val PEER_SCALE = Payload(UInt(4 bits))
  /** MAX.SND.WND (RFC 5961 5.2): the largest window that the peer has offered, bytes. */
  val LARGEST_WINDOW = Payload(UInt(31 bits))
  /** The last segment is to be sent again without congestion: the peer's window was shut and is open, the path was too
    * narrow for it, or both ends have sent a SYN and owe a SYN-ACK.
    */
  val RESUMED = Payload(Bool())
  /** SMSS (RFC 5681 section 2): the smaller MSS of the two ends, bytes. */
  val SEGMENT_SIZE = Payload(UInt(16 bits))
  /** RCV.NXT. */
  val RECEIVED = Payload(SequenceNumber())
  /** RCV.WND, bytes from RCV.NXT, if the event announces a window. */
  val RECEIVE_WINDOW = Payload(UInt(25 bits))
  /** Window scaling (RFC 7323 2) is agreed upon. */
  val SCALING = Payload(Bool())
  /** Ranges of received data beyond RCV.NXT, bytes from it, the newest first (RFC 2018); before them one that came
    * twice.
    */
  val RECEIVED_RANGES = Payload(Vec.fill(DownbeatConfig.ranges)(SackBlock(config.receiveOffsetBits)))
  /** The first of them lies below RCV.NXT: it came twice (RFC 2883). */
  val DUPLICATE_BELOW = Payload(Bool())
  /** SACK (RFC 2018) is agreed upon, or, before the peer's SYN, offered. */
  val SELECTIVE = Payload(Bool())
  /** Timestamps (RFC 7323 3) are agreed upon, or, before the peer's SYN, offered. */
  val TIMESTAMPED = Payload(Bool())
  /** TSval of a segment that the event sends, in units of 2^20 ns (RFC 7323 3). */
  val TIMESTAMP_VALUE = Payload(UInt(32 bits))
  /** TSecr of a segment that the event sends. */
  val TIMESTAMP_ECHO = Payload(UInt(32 bits))
  /** ECN (RFC 3168) is agreed upon, or, before the peer's SYN, offered. */
  val ECN_CAPABLE = Payload(Bool())
  /** ECE of the segment: the peer reports a mark on data that was sent to it. */
  val CONGESTION_ECHOED = Payload(Bool())
  /** ECE of outgoing ACKs: data of the peer was marked. */
  val ECHOES_CONGESTION = Payload(Bool())
  /** The event sends a pure ACK. */
  val ACK_DUE = Payload(Bool())
  /** The event sends a RST. */
  val RESET_DUE = Payload(Bool())
  /** SEG.SEQ of that ACK or RST. */
  val REPLY_SEQUENCE = Payload(SequenceNumber())
  /** The RST has ACK. */
  val RESET_ACKS = Payload(Bool())
  /** The connection ends, and its flow becomes free. */
  val RELEASE = Payload(Bool())
  /** A connection that the application has closed enters TIME-WAIT: another event may free its flow. */
  val LINGERS = Payload(Bool())
  /** TIME-WAIT goes on without the flow. */
  val RETIRES = Payload(Bool())
  /** PROTOCOL_DEADLINE holds. */
  val PROTOCOL_ARMED = Payload(Bool())
  /** Earliest deadline of protocol, ns: end of TIME-WAIT, end of FIN-WAIT-2 without an application, delayed ACK,
    * keep-alive.
    */
  val PROTOCOL_DEADLINE = Payload(Instant())

  // ---- from recovery

  /** Loss recovery is under way (RFC 6582, RFC 6675). */
  val RECOVERING = Payload(Bool())
  /** The event as congestion policies see it. */
  val CONGESTION_KIND = Payload(CongestionEventKind())
  /** FlightSize (RFC 5681 section 2) before the event, bytes; after it, if duplicate ACKs report a loss. */
  val FLIGHT = Payload(UInt(32 bits))
  /** RTT holds. */
  val RTT_VALID = Payload(Bool())
  /** Round-trip sample of the event, ns. */
  val RTT = Payload(UInt(36 bits))
  /** It is that of a full segment. */
  val RTT_FULL = Payload(Bool())
  /** It is the first of its round trip. */
  val RTT_FIRST = Payload(Bool())
  /** The segment at SND.UNA is sent again, whatever the window. */
  val RETRANSMIT = Payload(Bool())
  /** A lost segment is sent again, whatever the window. */
  val RETRANSMIT_LOST = Payload(Bool())
  /** The scoreboard has no space for another range: RETRANSMIT_LOST does not wait for PRR. */
  val SCOREBOARD_FULL = Payload(Bool())
  /** Position of the retransmission, bytes from SND.UNA. */
  val RETRANSMIT_OFFSET = Payload(UInt(config.sendOffsetBits bits))
  /** Bytes that the peer lacks at that position. */
  val RETRANSMIT_LIMIT = Payload(UInt(config.sendOffsetBits bits))
  /** Outstanding bytes that are not in the network, as far as the peer has reported, or count as such. */
  val WINDOW_ALLOWANCE = Payload(UInt(config.windowAllowanceBits bits))
  /** PRR (RFC 9937) says what leaves: a recovery with SACK is under way. */
  val PROPORTIONAL = Payload(Bool())
  /** DeliveredData (RFC 9937): bytes that the event's ACK reports as arrived, less those that it takes back. */
  val DELIVERED = Payload(SInt(config.sendOffsetBits + 2 bits))
  /** Bytes that are lost and not sent again. */
  val LOST = Payload(UInt(config.sendOffsetBits bits))
  /** pipe (RFC 6675 2): outstanding bytes that have not arrived, less those that are lost and not sent again. */
  val PIPE = Payload(UInt(config.sendOffsetBits bits))
  /** A `sent` that is a tail loss probe (RFC 8985 7). */
  val TAIL_PROBE = Payload(Bool())
  /** SND.NXT returns to SND.UNA: the retransmission timer expired, or RESUMED. */
  val REWIND = Payload(Bool())
  /** The retransmission timer expired: the next segment leaves with as many bytes as the peer's window permits, one
    * byte if it is shut.
    */
  val PROBE = Payload(Bool())
  /** Too many expiries of the retransmission timer in a row (R2, RFC 9293 3.8.3): the connection ends. */
  val GIVEN_UP = Payload(Bool())
  /** cwnd is not inflated after this loss: SACK reports the data that has left the network, or a mark replaced the
    * loss. The flight of a timeout is not inflated: no loss was under repair.
    */
  val UNINFLATED = Payload(Bool())
  /** USER_TIMEOUT_DEADLINE holds. */
  val USER_TIMEOUT_ARMED = Payload(Bool())
  /** End of the user timeout (RFC 9293 3.8.3), ns. */
  val USER_TIMEOUT_DEADLINE = Payload(Instant())
  /** The last reduction of the window was spurious: what was lost by it comes back. */
  val UNDONE = Payload(Bool())
  /** SND.NXT goes to SND.MAX: new data is sent next. */
  val FORWARD = Payload(Bool())
  /** EARLY_DEADLINE holds. */
  val EARLY_ARMED = Payload(Bool())
  /** Expiry of the tail loss probe's or RACK's timer (RFC 8985), ns. */
  val EARLY_DEADLINE = Payload(Instant())
  /** RECOVERY_DEADLINE holds. */
  val RECOVERY_ARMED = Payload(Bool())
  /** Expiry of the retransmission or persist timer (RFC 6298), ns. */
  val RECOVERY_DEADLINE = Payload(Instant())

  /** Smallest round trip of the connection's full segments, ns; before one has a sample, of all; all ones: no sample. */
  val RTT_MINIMUM = Payload(UInt(36 bits))

  // ---- from measure

  /** Measurement of the probe that this ACK acknowledges. */
  val PROBE_ACK = Payload(ProbeAck())
  /** Estimated rates of the connection, as bytes in the smallest round trip. */
  val RATES = Payload(RateWindows())
  /** The rate estimator has taken the event. */
  val ESTIMATES = Payload(Bool())
  /** The delivery rate that the event's ACK samples, on congestion's third step, in a build where a policy
    * `samplesDelivery`.
    */
  val DELIVERY = Payload(DeliverySample())
  /** State of inline measurement, and the stream of probes that it wants. */
  val INLINE = Payload(InlineResult())
  /** The part of the event that inline measurement has received. */
  val INLINE_UPDATE = Payload(InlineUpdate())

  // ---- from transmit

  /** SND.NXT. */
  val NEXT_SEND = Payload(SequenceNumber())
  /** With `ecc`: a word of the connection in a stage behind protocol has two flips. From transmit's step 1 on. */
  val UNREADABLE = Payload(Bool())

  // ---- from congestion

  /** cwnd and ssthresh (RFC 5681), bytes, 16 fraction bits. */
  val WINDOW = Payload(Window())
  /** Departure of the next new segment; `configured`: at `time` ns per byte, unless that is zero. */
  val DEPARTURE = Payload(DeparturePlan())
}
