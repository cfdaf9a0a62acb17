// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Packet pairs by command, for measuring a path (Keshav 1991): data goes in pairs of probes, `gap` between the two, and `pause` from the
  * second of a pair to the first of the next. Windows are those of slow start.
  *
  * Argument: `gap` in bits 51..0, ns with 16 fraction bits, zero for back to back; `pause` in bits 87..52, ns; bit 88: inverted, for a
  * receiver that delays ACKs. What the path did with each pair is in the event log (`ProbeAnswer`).
  *
  * A pair leaves when the window has space for both. A segment that is not full is no probe, and after it, or after a loss, a pair begins
  * anew.
  */
object Pairs extends StartupPolicy {
  val name = "pairs"
  private val gapBits = 52
  private val pauseBits = 36
  override val arguments: Arguments = Arguments(Seq(
    Argument("gap", gapBits, fraction = 16, unit = "ns"),
    Argument("pause", pauseBits, unit = "ns"),
    Argument("inverted", 1)))
  /** The argument, and whether the next one is the second of its pair. */
  val stateBits: Int = argumentBits + 1
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val Seq(_, _, choose, answer) = pipe.nodes
    val slowStart = new SlowStart(pipe)
    val kinds = CongestionEventKind
    val noGap = choose.insert(!choose(pipe.policyState)(gapBits - 1 downto 0).orR)

    val argument = answer(pipe.policyState)(argumentBits - 1 downto 0)
    val inverted = argument.msb
    val event = answer(pipe.event)
    val second = Bool()
    second := answer(pipe.policyState).msb
    when(event.kind === kinds.sent)(second := event.sentProbe && (inverted ? event.sentAhead | !answer(pipe.policyState).msb))
    when(event.kind === kinds.established || event.kind === kinds.loss || event.kind === kinds.timeout)(second := False)

    val result = Payload(PolicyAnswer(stateBits, paces))
    answer(result).window := slowStart.window
    answer(result).policyState := second ## argument
    val departure = answer(result).departure
    departure.pace := Pace.apart
    departure.time := argument(gapBits, pauseBits bits).asUInt.resize(40) @@ U(0, 16 bits)
    departure.burst := 0
    departure.inverted := inverted
    departure.minimumSegments := second ? U(0, 6 bits) | U(2, 6 bits)
    departure.probe := True
    departure.begins := !second
    when(second) {
      departure.time := argument(gapBits - 1 downto 0).asUInt.resized
      when(answer(noGap))(departure.pace := Pace.adjacent)
    }
    result
  }
}
