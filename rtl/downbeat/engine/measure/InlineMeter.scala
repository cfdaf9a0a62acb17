// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.calculation.{InlineEstimator, InlineMeasurement, InlineMessage}
import downbeat.config.DownbeatConfig
import downbeat.congestion.InlineResult
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import downbeat.lib.ecc.StateMemory
import downbeat.messages.EventKind
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The inline meter's state of a connection, in a side memory. */
case class InlineMeterState() extends Bundle {
  /** The estimator could not receive an event: it is requested to begin again. It does not know the connection yet. */
  val lost, unopened = Bool()
  /** ACKs come, but nothing is in flight and no stream is wanted, since `idleSince`: the estimator computes, or has
    * missed something and has been `requested` to begin again.
    */
  val idles, requested = Bool()
  val idleSince = UInt(InlineMeter.tickBits bits)
  /** Probes of the stream that have left. */
  val sent = UInt(4 bits)
  val result = InlineResult()
}

/** Tells the inline estimator ([[InlineMeasurement]]) what becomes of a connection's probes, and keeps what comes back
  * as events `measured`.
  *
  * The stream that is wanted is so until its last probe has left, or until the probes are forgotten. When all probes
  * are acknowledged and no stream is wanted for longer than the estimator takes, it has missed something, and begins
  * again.
  */
class InlineMeter(
    config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, probes: ProbeLog, steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val memory = StateMemory(config.ecc, InlineMeterState(), config.flows)
  memory.addAttribute("no_rw_check") // events of one flow are too far apart to collide

  private val address = new s0.Area {
    val flow: UInt = FLOW
    val opens = insert(LIVE && ESTABLISHED)
    val arrives = insert(LIVE && KIND === EventKind.measured)
    val sends = insert(LIVE && KIND === EventKind.sent && MEASURED && !RESENT)
  }
  private val read = pipeline.readSide(memory, s0, address.flow, needed = _(LIVE))
  private val before = read.word

  private val count = new s2.Area {
    val last = insert(before.sent === InlineMeasurement.probes - 1)
    val sent = insert {
      val sent = CombInit(before.sent)
      when(before.sent.orR)(sent := before.sent + 1)
      when(BEGINS)(sent := 1)
      sent
    }
    val now = insert(STAMP.ns(InlineMeter.tickBits + 19 downto 20))
    val waited = insert(before.idles && now - before.idleSince >= InlineMeter.longest)
  }

  private val space = Bool()
  private val message = Flow(InlineMessage(config))
  private val update = new s5.Area {
    private val ack = probes.result
    private val completes = address.sends && count.last && !BEGINS
    private val hasAck = ack.answered || probes.missed.orR
    private val idles = ADVANCED && probes.none && !hasAck && !before.result.valid
    private val stuck = LIVE && idles && count.waited && !before.requested
    private val forgets = probes.forgets || before.lost || stuck
    private val tells = LIVE && (address.opens || forgets || completes || hasAck)
    private val goes = tells && space
    message.valid := isValid && goes
    message.reference.flow := FLOW
    message.reference.generation := CONNECTION
    private val request = message.request
    request.opens := address.opens || before.unopened
    request.forgets := forgets
    request.completes := completes
    request.missed := probes.missed
    request.acknowledged := ack.answered
    request.begins := ack.begins
    request.disturbed := ack.disturbed
    private def bounded(gap: UInt): UInt = gap.takeHigh(4).orR ? U((BigInt(1) << 32) - 1, 32 bits) | gap.resize(32)
    request.departureGap := bounded(ack.departureGap)
    request.arrivalGap := bounded(ack.arrivalGap)
    request.segmentSize := SEGMENT_SIZE

    val after = CombInit[InlineMeterState](before).allowOverride()
    after.lost := !OPENING && !goes && (before.lost || tells)
    after.unopened := !OPENING && !goes && (before.unopened || address.opens)
    when(idles && !before.idles)(after.idleSince := count.now)
    when(idles)(after.idles := True)
    when(stuck && goes)(after.requested := True)
    when(address.arrives || address.opens || OPENING) {
      after.requested := False
      after.idles := False
    }
    when(address.sends)(after.sent := count.sent)
    when(address.arrives)(after.result := MEASURED_INLINE)
    when(completes)(after.result.valid := False)
    when(completes || probes.forgets || address.opens || OPENING)(after.sent := 0)
    when(forgets)(after.result.valid := False)
    when(address.opens || OPENING)(after.result := InlineResult.none)
    if (config.ecc) StateMemory.poison(memory, read.unreadable)
    pipeline.behind(s5)(memory.write(FLOW, after, isValid && (LIVE || OPENING)))

    INLINE := after.result
    INLINE_UPDATE.goes := goes
    INLINE_UPDATE.opens := request.opens
    INLINE_UPDATE.forgets := request.forgets
    INLINE_UPDATE.completes := request.completes
    INLINE_UPDATE.missed := request.missed
  }

  /** Connects the estimator. */
  def connect(estimator: InlineEstimator): Unit = {
    space := estimator.io.space
    estimator.io.request << message.stage()
  }
}

object InlineMeter {
  /** Bits of a time in units of 2^20 ns. */
  private[engine] val tickBits = 8
  /** More than the estimator takes for a round of each of 16 connections, 35,000 clocks, at 125 MHz: 4.5 ms. */
  private[engine] val longest = 8
}
