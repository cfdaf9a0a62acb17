// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEvent, CongestionEventKind, DeparturePlan, Pace, Window}
import downbeat.engine.pipeline.Signals
import downbeat.messages.{HostStart, StartPace}
import spinal.core._
import spinal.lib.misc.pipeline._

/** State of a connection that the host starts. */
case class HostFlightState() extends Bundle {
  /** Before it counts: the host's values. Afterwards `window` is the number of segments that are still to leave paced.
    */
  val start = HostStart()
  /** One of them has left. */
  val begun = Bool()
}

/** The first window that the host has given ([[HostStart]]).
  *
  * It counts with `established`: as the handshake ends, or as the engine takes a `start`. Then cwnd is `window`
  * segments, whatever the start-up policy says, and they leave `gap` apart, unless the start-up policy has a plan of
  * its own. A loss or a timeout ends the flight. A start that is too old loses its window, its pace and
  * its start-up policy, which becomes `standard`; ssthresh stays (Yu, thesis, p. 28). A connection that lost its SYN
  * begins with one segment (RFC 5681 3.1).
  */
class HostFlight(
    config: DownbeatConfig, signals: Signals, event: Payload[CongestionEvent], before: Payload[HostFlightState],
    synLost: Payload[Bool], steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, _, s4, s5) = steps

  private val current = new s0.Area {
    val start = insert(Mux[HostStart](STARTS || OPENING, PARAMETERS.start, before.start))
    val begins = insert(LIVE && (STARTS || ESTABLISHED))
    val small = insert(synLost && !STARTS)
    val begun = insert(before.begun)
  }

  private val judge = new s1.Area {
    private val left = current.start.until - NOW.ns // signed
    val expired = insert(current.begins && current.start.until.orR && left.msb)
    val flight = insert(current.start.window * SEGMENT_SIZE)
    val one = insert(current.start.window - 1)
    val going = insert(current.start.window.orR && !current.begins)
    val counts = insert(current.begins && current.start.window.orR && !current.small)
  }

  private val decide = new s2.Area {
    val window = insert(judge.counts && !judge.expired)
    private val paced = current.start.pace =/= StartPace.none
    private val sends = event.kind === CongestionEventKind.sent && judge.going
    val begun = insert(!current.begins && (current.begun || sends))
    val count = insert {
      val count = CombInit(current.start.window)
      when(sends)(count := judge.one)
      when(event.isLoss || current.begins && !(judge.counts && !judge.expired && paced))(count := 0)
      count
    }
  }

  /** The start has expired: from step 2 on. */
  val expired: Payload[Bool] = judge.expired
  /** The host's window counts, with so many bytes: from step 3 on. */
  val counts: Payload[Bool] = decide.window
  val cwnd: Payload[UInt] = judge.flight

  /** On step 4: how the next segment leaves; `configured` when the flight is over. */
  val plan: Payload[DeparturePlan] = new s4.Area {
    private val bucket = current.start.pace === StartPace.bucket
    val plan = insert {
      val plan = DeparturePlan()
      plan := DeparturePlan.configured
      when(decide.count.orR) {
        plan.pace := Pace.apart
        plan.burst := Mux(bucket, U(HostFlight.bucketLog2, 2 bits), U(0, 2 bits))
        when(decide.begun || bucket)(plan.time := current.start.gap.resize(DeparturePlan.timeBits))
      }
      plan
    }
  }.plan

  /** On step 5: the state after the event; `handshakes`: nothing has begun yet. */
  def after(handshakes: Payload[Bool]): HostFlightState = {
    val after = HostFlightState()
    new s5.Area {
      after.start := current.start
      after.begun := False
      when(!handshakes && !OPENING) {
        after.start.window := decide.count
        after.begun := decide.begun
      }
    }
    after
  }

  /** For the record of the event, from step 3 on: the host's window in segments, at the event at which it counts. */
  val shown: Payload[UInt] = new s2.Area {
    val shown = insert(Mux[UInt](judge.counts && !judge.expired, current.start.window, U(0, 16 bits)))
  }.shown
}

object HostFlight {
  /** TCP/SPAND's bucket: 2^2 segments. */
  val bucketLog2 = 2
}
