// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorRequest, CalculatorUnit, EngineSizes, InlineResult}
import spinal.core._

/** An event of a connection's probes. Gaps are ns. */
case class InlineRequest() extends Bundle {
  /** The connection is new. */
  val opens = Bool()
  /** Probes that are outstanding will have no ACK of their own. */
  val forgets = Bool()
  /** The last probe of a stream has left. */
  val completes = Bool()
  /** Probes that have no ACK of their own, before the one that is acknowledged; 2 at most. */
  val missed = UInt(2 bits)
  val acknowledged = Bool()
  /** The ACK is that of a stream's first probe. */
  val begins = Bool()
  val disturbed = Bool()
  val departureGap, arrivalGap = UInt(32 bits)
  /** Bytes. */
  val segmentSize = UInt(16 bits)
}

/** ImTCP's inline measurement of a path (Cao, Hasegawa, Murata 2004; Iguchi, thesis, 2.2): K, the bottleneck's
  * bandwidth, and A, what is available of it, in bytes/s of payload, from the data itself.
  *
  * A connection sends streams of 10 probes. The gaps of a stream become shorter by equal steps, so that its rate rises
  * over a sub-range of the search range; the last two probes go back to back.
  *
  *  1. Start: a stream back to back. A_0 = 9 P / (span of its ACKs), and the search range is A_0 / 2 to A_0.
  *  2. Split: k sub-ranges, k = 2 where the range is below 1.15 to 1, 3 below 1.2, else 4. A stream for each.
  *  3. Trend of a stream's delays: rising if 5 of 8 arrival gaps exceed the departure gap by 1/256, or all together by
  *     1/10, which is more than one packet of other traffic; not rising if at most 3 do, and all together by at most
  *     1/32; else unknown.
  *  4. Choice: the sub-range with the most rising streams above it and not rising ones below. A score below k / 2
  *     widens the range by a quarter each way. A choice above or below all moves it by half of its width, and earlier
  *     results are forgotten; above all at K itself A is K, below all A is the range's lower end for now.
  *  5. Knee: two lines through the stream's rates (departure, arrival), the identity and least squares, by the least
  *     squared error of all splits; they meet at A.
  *  6. Next range: the mean of the last 16 results, +- 1.96 S / sqrt(q), 10 % at least. The mean is A.
  *  7. K is P over the lower quartile of the last 15 arrival gaps of pairs that left back to back. Other traffic
  *     between two probes makes a gap longer, often more than half of them.
  *
  * Where no stream of a round has all its answers, the receiver delays ACKs or does so no more: from then on every
  * second segment is a probe, or every one. A loss begins the round again. P is SMSS.
  *
  * Ours: 10 probes for the paper's 5, equal steps of the gap, the rule of the sum in 3, the widening and the bound in
  * 4, pairs for K.
  * With these A comes within 10 % in ten rounds beside half of the link at most, within 25 % beside 80 %: a low first
  * result narrows the range too early (cocotb_tests/calculation/test_inline_measurement.py).
  *
  * An answer takes about 400 clocks, the last of a stream 10,000, the last of a round 35,000.
  */
object InlineMeasurement extends Calculator {
  val name = "inlinemeasurement"
  val requestBits: Int = 6 + 2 + 2 * 32 + 16
  val responseBits: Int = 1 + InlineResult.bits
  /** Probes of a stream. */
  val probes = 10
  def build(config: EngineSizes): CalculatorUnit = new InlineMeasurementUnit(config)
}

/** The unit of [[InlineMeasurement]]: [[InlineProgram]] on a [[RowMachine]]. The response says first whether there is
  * anything new.
  */
class InlineMeasurementUnit(config: EngineSizes) extends CalculatorUnit(config, InlineMeasurement) {
  private val taken = Reg(CalculatorRequest(config, InlineMeasurement.requestBits))
  private val busy = RegInit(False)
  private val machine = new RowMachine(
    InlineProgram(), config, InlineProgram.kept, taken.flow, taken.operands, entry = U(0), InlineProgram.fields)

  io.request.ready := !busy
  when(io.request.fire) {
    taken := io.request.payload
    busy := True
  }
  machine.starts := busy
  when(machine.ends)(busy := False)
  io.response.valid := RegNext(machine.ends) init False
  io.response.payload := machine.response.map(_.asBits).reverse.reduce(_ ## _)
}
