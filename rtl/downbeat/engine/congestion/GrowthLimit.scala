// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.congestion._
import downbeat.engine.pipeline.Signals
import spinal.core._
import spinal.lib.misc.pipeline._

/** The bound of a window that the connection does not use. */
case class GrowthState() extends Bundle {
  val limited = Bool()
  /** maxFS: the largest flight since cwnd was last reduced, bytes. */
  val maximumFlight = UInt(31 bits)
}

/** Bounds the growth of cwnd while less than cwnd is in flight (draft-ietf-ccwg-ratelimited-increase-11 3), for all
  * policies: cwnd does not grow beyond what they make of the largest flight in a round trip. That is twice as much
  * while the start-up policy grows the window; for the steady policy half as much again, as CUBIC's (RFC 9438 4.2), or
  * a segment more, as Reno's. A policy that more than doubles cwnd at once knows the path from elsewhere, and may.
  *
  * @param policy      the policies' windows, on step 3
  * @param fromStartup they are the start-up policy's, on step 2
  * @param ofModel     they are those of a policy that bounds itself, on step 2
  */
class GrowthLimit(
    signals: Signals, event: Payload[CongestionEvent], before: Payload[CongestionState], prior: Payload[PriorState],
    policy: Payload[Window],
    fromStartup: Payload[Bool], ofModel: Payload[Bool], steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(_, s1, s2, s3, s4, s5) = steps
  private val kinds = CongestionEventKind

  private val choose = new s1.Area {
    private val grows = Seq(kinds.acknowledged, kinds.paired, kinds.calculated, kinds.estimated, kinds.measured)
      .map(event.kind === _).reduce(_ || _)
    val counts = insert(before.growth.limited && grows && event.flight < before.window.cwnd(47 downto 16))
    private val flight = event.flight.resize(31)
    val maximumFlight = insert(Mux[UInt](before.growth.maximumFlight < flight, flight, before.growth.maximumFlight))
  }
  private val add = new s2.Area {
    private val half = choose.maximumFlight >> 1
    private val steady = Mux[UInt](half < SEGMENT_SIZE.resize(30), SEGMENT_SIZE.resize(30), half)
    val step = insert(Mux[UInt](fromStartup, choose.maximumFlight, steady.resize(31)))
  }
  private val limit = new s3.Area {
    val bytes = insert(choose.maximumFlight +^ add.step)
  }
  private val compare = new s4.Area {
    private val window = Window.ofBytes(limit.bytes)
    private val jumps = (before.window.cwnd << 1) < policy.cwnd
    val applies = insert(choose.counts && !ofModel && !limit.bytes(31 downto 30).orR && window < policy.cwnd &&
      before.window.cwnd < policy.cwnd && !jumps)
    val stays = insert(window < before.window.cwnd)
  }

  /** On step 5: cwnd is not the policies', but `cwnd`. */
  val applies: Payload[Bool] = compare.applies
  def cwnd: UInt = new s5.Area {
    val bounded = Mux[UInt](compare.stays, before.window.cwnd, Window.ofBytes(limit.bytes))
  }.bounded

  /** On step 5: the state after the event, with the window after it. */
  def update(after: CongestionState, window: Window): Unit = new s5.Area {
    after.growth.limited := Mux(OPENING, !PARAMETERS.recovery.noGrowthLimit, before.growth.limited)
    after.growth.maximumFlight := choose.maximumFlight
    switch(event.kind) {
      is(kinds.loss, kinds.timeout, kinds.timeoutAgain)(after.growth.maximumFlight := 0)
      is(kinds.established, kinds.restart)(after.growth.maximumFlight := window.cwnd(46 downto 16))
      is(kinds.undone)(after.growth.maximumFlight := prior.cwnd)
    }
  }
}
