// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{MissWindow, MissWindowRequest, MissWindowResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** The policy state of MISS: first its argument, then its flight. */
case class MissState() extends Bundle {
  /** m = gamma / delta, 8 fraction bits. */
  val rate = UInt(24 bits)
  /** t_next, ns; in the flight the gap, 8 fraction bits. */
  val next = UInt(48 bits)
  /** The largest window, segments; in the flight how many are still to leave. */
  val maxWindow = UInt(16 bits)
  /** Segments that left before the response; all ones: that or more. */
  val early = UInt(8 bits)
  /** A request is due or under way; the flight leaves paced. */
  val requesting, pacing = Bool()
}

/** MISS, more informed slow start, with the connection's own round trip (Yu, thesis, p. 26 to 28).
  *
  * The host gives the rate m = gamma / delta of losses of the prefix (a share of which is this connection's) and the
  * next one's time t_next. On `established` the core requests n = floor(m (t_next - now) / R), R the smallest round
  * trip so far: of a new connection the handshake's. The response sets cwnd = n segments and raises ssthresh to it; the
  * n segments leave R / n apart, those counted that have left already. Then slow start goes on up to ssthresh, which
  * the host has given (LISS).
  *
  * It is standard slow start with fewer segments than the initial window, with t_next overdue, without a round trip,
  * and after a loss, which also ends the flight. `maxWindow` bounds n.
  */
object Miss extends StartupPolicy {
  val name = "miss"
  override val arguments: Arguments = Arguments(
    Seq(
      Argument("m", 24, fraction = 8, min = 1),
      Argument("next", 48, unit = "ns"),
      Argument("maxWindow", 16, unit = "segments", min = 1)),
    needed = true)
  override def state: Bundle = MissState()
  override val paces = true
  override val calculator: Option[Calculator] = Some(MissWindow)
  private val gapBits = 44

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(MissState())
    val time = new UntilDrop(pipe, before)
    val jump = new Jump(pipe, before)

    val compare = new s1.Area {
      val response = insert(event.kind === kinds.calculated && calculated.ofStartup && before.requesting)
      val left = insert(before.maxWindow - 1)
      val known = insert(!event.rttMinimum.andR)
    }

    val judge = new s2.Area {
      val opens = insert(event.kind === kinds.established)
      val lost = insert(event.isLoss)
      val jumps = insert(compare.response && jump.isLarge)
      val sends = event.kind === kinds.sent
      val counts = insert(sends && before.pacing && before.maxWindow.orR)
      val early = insert(sends && before.requesting && !before.early.andR)
      val wanted = (before.requesting && event.kind =/= kinds.calculated && !event.isLoss) || opens
      val requests = insert(wanted && !calculating && compare.known)
    }

    val result = Payload(PolicyResult(stateBits, paces, requestBits))
    new s3.Area {
      val after = MissState()
      after := before
      result.window := slowStart.windowAfter
      when(judge.opens) {
        after.requesting := compare.known
        after.pacing := False
        after.early := 0
      }
      when(judge.early)(after.early := before.early + 1)
      when(judge.counts)(after.maxWindow := compare.left)
      when(compare.response)(after.requesting := False)
      when(judge.jumps) {
        jump.begin(after)
        result.window := jump.windowAfter
      }
      when(judge.lost) {
        after.requesting := False
        after.pacing := False
      }
      result.policyState := after.asBits

      result.departure := DeparturePlan.configured
      when(after.pacing && after.maxWindow.orR) {
        result.departure.pace := Pace.apart
        result.departure.time := (after.next.resize(gapBits) << 8).resize(DeparturePlan.timeBits)
      }

      val request = MissWindowRequest()
      request.rate := before.rate
      request.untilDrop := time.remaining
      request.roundTrip := event.rttMinimum
      request.maxWindow := before.maxWindow
      result.calculation.assign(judge.requests, request)
    }
  }.result

  /** The response: cwnd = n segments, of which those that have not left yet leave R / n apart. */
  private class Jump(pipe: PolicyPipe, before: Payload[MissState]) extends Area {
    import pipe._
    private val read = new s0.Area {
      private val response = calculated.response.resize(MissWindow.responseBits).as(MissWindowResponse())
      val segments = insert(response.window)
      val gap = insert(response.gap)
      val bytes = insert(response.window * event.segmentSize)
      val left = insert(response.window - before.early.resize(16))
    }
    private val compare = new s1.Area {
      val isLarge = insert(!(read.segments < event.initialWindow) && read.segments.orR && !calculated.stale)
      val raises = insert(window.ssthresh(47 downto 16) < read.bytes)
      val anyLeft = insert(read.segments > before.early.resize(16))
    }
    private val choose = new s3.Area {
      val after = Window()
      after.cwnd := Window.ofBytes(read.bytes)
      after.ssthresh := Mux[UInt](compare.raises, Window.ofBytes(read.bytes), window.ssthresh)
    }
    /** The initial window at least, and nothing was lost since the request; from the second node on. */
    val isLarge: Payload[Bool] = compare.isLarge
    /** On the last node. */
    val windowAfter: Window = choose.after

    /** On the last node. */
    def begin(after: MissState): Unit = new s3.Area {
      after.pacing := compare.anyLeft
      after.maxWindow := read.left
      after.next := read.gap.resized
    }
  }

  /** t_next - now, at most 2^40 - 1 ns; zero: the drop is overdue. */
  private class UntilDrop(pipe: PolicyPipe, before: Payload[MissState]) extends Area {
    import pipe._
    private val subtract = new s0.Area {
      val remaining = insert(before.next - now.ns) // signed
    }
    private val compare = new s1.Area {
      val far = insert(subtract.remaining(46 downto 40).orR)
    }
    private val bound = new s2.Area {
      val remaining = insert {
        val remaining = UInt(40 bits)
        remaining := subtract.remaining.resize(40)
        when(compare.far)(remaining.setAll())
        when(subtract.remaining.msb)(remaining := 0)
        remaining
      }
    }
    /** From the third node on. */
    val remaining: Payload[UInt] = bound.remaining
  }
}
