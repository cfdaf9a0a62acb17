// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A paced flight: the first `count` segments leave `gap` apart, then slow start goes on unpaced (Yu, thesis, 2.2: MISS and jump start send
  * their first window so, over one round trip; TCP/SPAND likewise).
  *
  * Argument: `count` in bits 15..0; `gap` in bits 67..16, ns with 16 fraction bits. For n segments over R: count = n, gap = R / n. The n-th
  * departure is within n / 2 * 2^-16 ns of its place.
  *
  * On `established`: cwnd = max(initial window, count) segments, ssthresh = the connection's. ACKs grow the window as in slow start and
  * release nothing before the flight is over. A loss or a timeout ends it.
  */
object Paced extends StartupPolicy {
  val name = "paced"
  private val countBits = 16
  private val gapBits = 52
  override val arguments: Arguments = Arguments(Seq(
    Argument("n", countBits, unit = "segments", least = 1, usual = 10),
    Argument("gap", gapBits, fraction = 16, unit = "ns")))
  /** Segments still to go, the gap, and whether one has gone. */
  val stateBits: Int = argumentBits + 1
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(compare, add, choose, answer) = pipe.nodes
    def count(node: Node): UInt = node(pipe.policyState)(countBits - 1 downto 0).asUInt

    val slowStart = new SlowStart(pipe)
    val flight = compare.insert((count(compare) * compare(pipe.event).segmentSize).resize(32))
    val left = add.insert(count(add) - 1)
    val going = add.insert(count(add).orR)
    val longer = !(choose(flight) < choose(slowStart.initial))

    val kind = choose(pipe.event).kind
    val isOpening = choose.insert(kind === CongestionEventKind.established)
    val beginsLonger = choose.insert(kind === CongestionEventKind.established && longer)
    val sends = kind === CongestionEventKind.sent && choose(going)
    val ends = kind === CongestionEventKind.loss || kind === CongestionEventKind.timeout
    val hasBegun = choose.insert(kind =/= CongestionEventKind.established && (choose(pipe.policyState).msb || sends))
    val countNext = choose.insert {
      val countNext = UInt(countBits bits)
      countNext := count(choose)
      when(sends)(countNext := choose(left))
      when(ends)(countNext := 0)
      countNext
    }
    val opens = answer(isOpening)
    val countAfter = answer(countNext)
    val begun = answer(hasBegun)
    val gap = answer(pipe.policyState)(countBits, gapBits bits)

    val result = Payload(PolicyAnswer(stateBits, paces))
    answer(result).window := slowStart.window
    when(answer(beginsLonger))(answer(result).window.cwnd.allowOverride() := Window.ofBytes(answer(flight)))
    answer(result).policyState := begun ## gap ## countAfter
    val departure = answer(result).departure
    departure := DeparturePlan.configured
    departure.allowOverride()
    when(countAfter.orR) {
      departure.pace := Pace.apart
      when(begun)(departure.time := gap.asUInt.resize(DeparturePlan.timeBits))
    }
    result
  }
}
