// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Packet pairs by command, for measuring a path (Keshav 1991): data goes in pairs of probes, `gap` between the two,
  * and `pause` from the second of a pair to the first of the next. Windows are those of slow start.
  *
  * Argument: `gap` in bits 51..0, ns with 16 fraction bits, zero for back to back; `pause` in bits 87..52, ns; bit 88:
  * inverted, for a receiver that delays ACKs. The event log shows what the path did with each pair (`ProbeAck`).
  *
  * A pair leaves when the window has space for both segments. A segment that is not full is no probe. After such a
  * segment, or after a loss, a new pair begins.
  */
object Pairs extends StartupPolicy {
  val name = "pairs"
  private val gapBits = 52
  private val pauseBits = 36
  override val arguments: Arguments = Arguments(Seq(
      Argument("gap", gapBits, fraction = 16, unit = "ns"),
      Argument("pause", pauseBits, unit = "ns"),
      Argument("inverted", 1)))
  override def state: Bundle = PairsState()
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(PairsState())
    val compare = new s2.Area {
      val noGap = insert(!before.gap.orR)
    }

    val result = Payload(PolicyResult(stateBits, paces))
    new s3.Area {
      val second = CombInit(before.second)
      when(event.kind === CongestionEventKind.sent) {
        second := event.sentProbe && Mux(before.inverted, event.sentAhead, !before.second)
      }
      when(event.kind === CongestionEventKind.established || event.isLoss)(second := False)

      result.window := slowStart.windowAfter
      val after = CombInit[PairsState](before).allowOverride()
      after.second := second
      result.policyState := after.asBits
      result.departure.pace := Pace.apart
      result.departure.time := before.pause.resize(40) @@ U(0, 16 bits)
      result.departure.burst := 0
      result.departure.inverted := before.inverted
      result.departure.minimumSegments := second ? U(0, 6 bits) | U(2, 6 bits)
      result.departure.probe := True
      result.departure.begins := !second
      when(second) {
        result.departure.time := before.gap.resized
        when(compare.noGap)(result.departure.pace := Pace.adjacent)
      }
    }
  }.result

  /** The argument, and whether the next segment is the second of its pair. */
  private case class PairsState() extends Bundle {
    val gap = UInt(gapBits bits)
    val pause = UInt(pauseBits bits)
    val inverted = Bool()
    val second = Bool()
  }
}
