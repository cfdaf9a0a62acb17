// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A paced flight: the first `count` segments leave `gap` apart, then slow start goes on unpaced (Yu, thesis, 2.2).
  * MISS, jump start and TCP/SPAND send their first window so, over one round trip.
  *
  * Argument: `count` in bits 15..0; `gap` in bits 67..16, ns with 16 fraction bits; `burst` in bits 69..68. For n
  * segments over R: count = n, gap = R / n. The n-th departure is within n / 2 * 2^-16 ns of its place. With a burst
  * the gap is a token bucket of 2^burst segments, and the first segment too is booked with it: with 2, as TCP/SPAND
  * has it, segments leave at 0, 0, 0, 0, gap, 2 gap ... The bucket is full if the handshake took that long.
  *
  * On `established`: cwnd = max(initial window, count) segments, ssthresh = the connection's. ACKs grow the window as
  * in slow start and release nothing before the flight is over. A loss or a timeout ends the flight.
  */
object Paced extends StartupPolicy {
  val name = "paced"
  private val countBits = 16
  private val gapBits = 52
  override val arguments: Arguments = Arguments(Seq(
      Argument("n", countBits, unit = "segments", min = 1, default = 10),
      Argument("gap", gapBits, fraction = 16, unit = "ns"),
      Argument("burst", 2)))
  override def state: Bundle = PacedState()
  override val paces = true

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(PacedState())

    val multiply = new s0.Area {
      /** Bytes of the whole paced flight. */
      val flight = insert((before.count * event.segmentSize).resize(32))
    }

    val subtract = new s1.Area {
      val left = insert(before.count - 1)
      val going = insert(before.count.orR)
    }

    val choose = new s2.Area {
      val opens = event.kind === CongestionEventKind.established
      val sends = event.kind === CongestionEventKind.sent && subtract.going
      val opensLonger = insert(opens && !(multiply.flight < slowStart.initial))
      val begun = insert(!opens && (before.begun || sends))
      val count = insert {
        val count = CombInit(before.count)
        when(sends)(count := subtract.left)
        when(event.isLoss)(count := 0)
        count
      }
    }

    val result = Payload(PolicyResult(stateBits, paces))
    new s3.Area {
      result.window := slowStart.windowAfter
      when(choose.opensLonger)(result.window.cwnd.allowOverride() := Window.ofBytes(multiply.flight))
      val after = PacedState()
      after.count := choose.count
      after.gap := before.gap
      after.burst := before.burst
      after.begun := choose.begun
      result.policyState := after.asBits
      result.departure := DeparturePlan.configured
      result.departure.allowOverride()
      when(choose.count.orR) {
        result.departure.pace := Pace.apart
        result.departure.burst := before.burst
        when(choose.begun || before.burst.orR)(result.departure.time := before.gap.resize(DeparturePlan.timeBits))
      }
    }
  }.result

  /** The argument, and whether a segment has gone; `count` counts down. */
  private case class PacedState() extends Bundle {
    val count = UInt(countBits bits)
    val gap = UInt(gapBits bits)
    val burst = UInt(2 bits)
    val begun = Bool()
  }
}
