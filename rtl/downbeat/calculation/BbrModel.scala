// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** An ACK with a sample of the delivery rate. Between two requests others may have come. */
case class BbrModelRequest() extends Bundle {
  /** The connection's first. */
  val opens = Bool()
  /** Since the last request: the last recovery was spurious, a timeout, a restart from idle. */
  val undone, timedOut, restarted = Bool()
  /** By duplicate ACKs. */
  val recovering = Bool()
  /** The peer sends SACK. */
  val selective = Bool()
  val cwndLimited, appLimited = Bool()
  /** Segments. */
  val initialWindow = UInt(8 bits)
  val segmentSize = UInt(16 bits)
  /** C.delivered and P.delivered, bytes modulo 2^32: total, and as the sample's segment left. */
  val delivered, priorDelivered = UInt(32 bits)
  /** The sample's, ns. Zero: it has no rate. */
  val interval = UInt(36 bits)
  /** C.lost and P.lost, likewise. */
  val lost, priorLost = UInt(32 bits)
  /** P.tx_in_flight, bytes. */
  val txInFlight = UInt(31 bits)
  /** After the ACK, bytes. */
  val inFlight, cwnd = UInt(31 bits)
  /** ns. All ones: none. */
  val rtt = UInt(36 bits)
  /** ns. */
  val now = UInt(48 bits)
}

/** The window in bytes; ns for each byte, with 32 fraction bits, as mantissa 2^exponent. */
case class BbrModelResponse() extends Bundle {
  val cwnd = UInt(31 bits)
  val mantissa = UInt(25 bits)
  val exponent = UInt(5 bits)
}

/** BBR (draft-ietf-ccwg-bbr, August 2026): its state of a connection, updated by one ACK (5.2.3).
  *
  *   bw      = min(max_bw, bw_shortterm), max_bw of two cycles' delivered / interval (5.5.5)
  *   BDP     = bw min_rtt (5.6.4.2)
  *   cwnd    = max(gain BDP + extra_acked, 6 SMSS) (+ 2 SMSS in ProbeBW_UP), at most inflight_longterm and
  *             inflight_shortterm (5.6.4)
  *   spacing = 100 / (99 gain bw), not longer before full_bw_reached (5.6.2)
  *
  * Bandwidths are bytes/ns with 24 fraction bits in 31 bits, at most 1 Tb/s. Volumes have 31 bits, all ones is
  * infinity. Times are ns, gains have 10 fraction bits. The BDP is rounded to the nearest byte, all else down; the
  * mantissa's last bit is below 2^-24 of the spacing. A request takes about 2,400 clocks, up to 4,000. The golden
  * model, with all departures from the draft, is sim/golden/congestion/bbr/model.py.
  */
object BbrModel extends ProgrammedCalculator {
  val name = "bbrmodel"
  val requestBits: Int = 373
  val responseBits: Int = 61
  override val kept: Int = 48
  def write(program: RowProgram, state: Seq[Row]): Unit = new BbrModelProgram(program, state).write()
}
