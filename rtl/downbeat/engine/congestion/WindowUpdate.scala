// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.config.DownbeatConfig
import downbeat.congestion._
import downbeat.engine.pipeline.Signals
import spinal.core._
import spinal.lib.misc.pipeline._

/** The windows after an event. Outside recovery they are the policies' result. In recovery and after a timeout they are
  * RFC 6582's and RFC 5681's, for all policies. The result has 2 SMSS <= ssthresh and SMSS <= cwnd, and neither is
  * above 1 GiB.
  *
  * @param prior      the windows before the last reduction
  * @param policy     the windows of the policy that the event is for
  * @param calculated a stale response leaves the windows as they are, but for one `ofModel`
  * @param keeps      so does a change of policies
  * @param host       the host's start of the connection, if the build has one
  * @param fromStartup the start-up policy's windows count
  * @param ofModel    the windows of a policy that models the path count
  * @param handshakes the connection is not established yet: its policies are not used
  * @param bound      whether the start-up policy bounds what a loss leaves, and by what, if one can
  */
class WindowUpdate(
    config: DownbeatConfig, signals: Signals, event: Payload[CongestionEvent], before: Payload[CongestionState],
    prior: Payload[PriorState], policy: Payload[Window],
    calculated: Payload[Calculated], keeps: Payload[Bool], host: Option[HostFlight],
    fromStartup: Payload[Bool], ofModel: Payload[Bool], handshakes: Payload[Bool],
    bound: Option[(Payload[Bool], Payload[UInt])],
    steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val kinds = CongestionEventKind

  private val flight = new s0.Area {
    /** Not SND.MAX - SND.UNA: the hole of an inverted pair is not in flight. */
    val left = insert(OUTSTANDING_BEFORE - ACKED)
  }

  private val subtract = new s1.Area {
    val segment = insert(Window.ofBytes(SEGMENT_SIZE))
    val remains = insert((before.window.cwnd -^ Window.ofBytes(ACKED)).asSInt)
    val flightAfter = insert(
      Mux[UInt](flight.left.asSInt < SEGMENT_SIZE.resize(32).asSInt, SEGMENT_SIZE.resize(32), flight.left))
  }
  import subtract.segment

  private val add = new s2.Area {
    val inflated = insert(before.window.cwnd + segment)
    val deflated = insert(subtract.remains.msb ? U(0, 48 bits) | subtract.remains.asUInt.resize(48))
    val partialSegment = insert(Mux[UInt](ACKED < SEGMENT_SIZE, U(0, 48 bits), segment))
    val flightAndOne = insert(Window.ofBytes(subtract.flightAfter + SEGMENT_SIZE))
    val inflation = insert(Mux[UInt](event.uninflated, U(0, 48 bits), segment + (segment |<< 1)))
  }

  private val compare = new s3.Area {
    val afterPartial = insert(add.deflated + add.partialSegment)
    /** A loss where ssthresh is above cwnd: the window does not rise. */
    val afterLoss = insert(before.window.cwnd + add.inflation)
    /** RFC 4015 3.2: what was reduced in vain. */
    val afterUndo = insert(Mux[UInt](before.window.cwnd < Window.ofBytes(prior.cwnd),
        Window.ofBytes(prior.cwnd), before.window.cwnd))
    val afterFull =
      insert(Mux[UInt](add.flightAndOne < before.window.ssthresh, add.flightAndOne, before.window.ssthresh))
  }

  private val settle = new s4.Area {
    val window = Payload(Window())
    window := policy
    switch(event.kind) {
      is(kinds.none, kinds.sent)(window := before.window)
      is(kinds.undone) {
        window.cwnd := compare.afterUndo
        window.ssthresh := Window.ofBytes(prior.ssthresh)
      }
      is(kinds.duplicate)(keepSsthresh(add.inflated))
      is(kinds.partial)(keepSsthresh(compare.afterPartial))
      is(kinds.recovered)(keepSsthresh(compare.afterFull))
      is(kinds.timeoutAgain)(keepSsthresh(segment))
      is(kinds.timeout) {
        window.cwnd := segment
        // In recovery more is outstanding than the window in which the loss was seen.
        when(!event.uninflated && before.window.ssthresh < policy.ssthresh)(window.ssthresh := before.window.ssthresh)
      }
      if (config.policiesCalculate) is(kinds.calculated)(when(calculated.stale && !ofModel)(window := before.window))
      is(kinds.loss) {
        window.cwnd :=
          Mux[UInt](before.window.cwnd < policy.ssthresh, compare.afterLoss, policy.ssthresh + add.inflation)
        for ((bounded, limit) <- bound) {
          when(bounded && limit < policy.ssthresh)(window.ssthresh := limit)
          when(bounded && limit < policy.ssthresh && limit < before.window.cwnd)(window.cwnd := limit + add.inflation)
        }
      }
    }
    for (start <- host) {
      when(start.counts)(window.cwnd := Window.ofBytes(start.cwnd))
    }
    when(keeps)(window := before.window)
    // The bits of its window are a HandshakeWindow.
    when(handshakes) {
      window.cwnd := 0
      window.ssthresh := 0
    }
    val twoSegments = insert(segment |<< 1)

    private def keepSsthresh(cwnd: UInt): Unit = {
      window.cwnd := cwnd
      window.ssthresh := before.window.ssthresh
    }
  }
  val growth = new GrowthLimit(signals, event, before, prior, policy, fromStartup, ofModel, steps)

  new s5.Area {
    WINDOW.cwnd := Mux[UInt](growth.applies, growth.cwnd, bounded(settle.window.cwnd, segment))
    WINDOW.ssthresh := bounded(settle.window.ssthresh, settle.twoSegments)
  }

  private def bounded(value: UInt, floor: UInt): UInt = {
    val ceiling = Window.ofBytes(U(Window.maximumBytes, 32 bits))
    value(47 downto 46).orR ? ceiling | ((value < floor) ? floor | value)
  }
}
