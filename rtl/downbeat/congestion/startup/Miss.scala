// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.calculation.{MissWindow, MissWindowRequest, MissWindowResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** What MISS keeps: first its argument, then its flight. */
case class MissState() extends Bundle {
  /** m = gamma / delta, 8 fraction bits. */
  val rate = UInt(24 bits)
  /** t_next, ns; in the flight the gap, 8 fraction bits. */
  val next = UInt(48 bits)
  /** The largest window, segments; in the flight how many are still to leave. */
  val maxWindow = UInt(16 bits)
  /** Segments that left before the response; all ones: that or more. */
  val early = UInt(8 bits)
  /** The response is wanted; the flight is under way. */
  val asks, flies = Bool()
}

/** MISS, more informed slow start, with the connection's own round trip (Yu, thesis, p. 26 to 28).
  *
  * The host tells the rate m = gamma / delta of losses of the prefix (a share of which is this connection's) and the
  * next one's time t_next. On `established` the core asks for n = floor(m (t_next - now) / R), R the smallest round
  * trip so far: of a new connection the handshake's. The response sets cwnd = n segments and raises ssthresh to it; the
  * n segments leave R / n apart, those counted that have left already. Then slow start goes on up to ssthresh, which
  * the host has told (LISS).
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
  val stateBits = 98
  override val paces = true
  override val comparesRoundTrips = true
  override val calculator: Option[Calculator] = Some(MissWindow)
  private val gapBits = 44

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = new Composite(pipe) {
    import pipe._
    private val kinds = CongestionEventKind

    val slowStart = new SlowStart(pipe)
    val before = stateBefore(MissState())

    val read = new s0.Area {
      private val response = calculated.response.resize(MissWindow.responseBits).as(MissWindowResponse())
      val window = insert(response.window)
      val gap = insert(response.gap)
      val remaining = insert(before.next - now.ns) // signed
      val bytes = insert(response.window * event.segmentSize)
      val early = insert(response.window - before.early.resize(16))
    }

    val compare = new s1.Area {
      val response = insert(event.kind === kinds.calculated && calculated.ofStartup && before.asks)
      val enough = insert(!(read.window < event.initialWindow) && read.window.orR && !calculated.stale)
      val left = insert(before.maxWindow - 1)
      val raises = insert(window.ssthresh(47 downto 16) < read.bytes)
      val leftEarly = insert(read.window > before.early.resize(16))
      val far = insert(read.remaining(46 downto 40).orR)
      val known = insert(!event.rttMinimum.andR)
    }

    val judge = new s2.Area {
      val opens = insert(event.kind === kinds.established)
      val lost = insert(event.isLoss)
      val jumps = insert(compare.response && compare.enough)
      val sends = event.kind === kinds.sent
      val counts = insert(sends && before.flies && before.maxWindow.orR)
      val early = insert(sends && before.asks && !before.early.andR)
      val wanted = (before.asks && event.kind =/= kinds.calculated && !event.isLoss) || opens
      val requests = insert(wanted && !calculating && compare.known)
      val until = insert {
        val until = UInt(40 bits)
        until := read.remaining.resize(40)
        when(compare.far)(until.setAll())
        when(read.remaining.msb)(until := 0)
        until
      }
    }

    val result = Payload(PolicyAnswer(stateBits, paces, requestBits))
    new s3.Area {
      val after = MissState()
      after := before
      when(judge.opens) {
        after.asks := compare.known
        after.flies := False
        after.early := 0
      }
      when(judge.early)(after.early := before.early + 1)
      when(judge.counts)(after.maxWindow := compare.left)
      when(compare.response)(after.asks := False)
      when(judge.jumps) {
        after.flies := compare.leftEarly
        after.maxWindow := read.early
        after.next := read.gap.resized
      }
      when(judge.lost) {
        after.asks := False
        after.flies := False
      }
      result.policyState := after.asBits

      result.window := slowStart.windowAfter
      when(judge.jumps) {
        result.window.cwnd := Window.ofBytes(read.bytes)
        when(compare.raises)(result.window.ssthresh := Window.ofBytes(read.bytes))
      }

      result.departure := DeparturePlan.configured
      when(after.flies && after.maxWindow.orR) {
        result.departure.pace := Pace.apart
        result.departure.time := (after.next.resize(gapBits) << 8).resize(DeparturePlan.timeBits)
      }

      val request = MissWindowRequest()
      request.rate := before.rate
      request.untilDrop := judge.until
      request.roundTrip := event.rttMinimum
      request.maxWindow := before.maxWindow
      result.calculation.valid := judge.requests
      result.calculation.operands := request.asBits
      result.calculation.note := 0
    }
  }.result
}
