// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.measure

import downbeat.calculation.{InlineEstimator, RateEstimator}
import downbeat.config.DownbeatConfig
import downbeat.congestion.{InlineResult, InlineUpdate, ProbeAck, RateWindows, Window}
import downbeat.engine.pipeline.{EnginePipeline, Signals, Stage}
import spinal.core._
import spinal.lib.misc.pipeline._

/** The measure stage's state of a connection. */
case class MeasureState(config: DownbeatConfig) extends Bundle {
  val probes = config.policiesPace generate ProbeLogState(config)
}

/** Measures what round trips and gaps tell of the path.
  *
  * It finds the ACK of each probe, if a policy sends probes ([[ProbeLog]]). It has the connection's rate estimated, if
  * a policy wants to know it ([[RateMeter]]), and the path measured by streams of probes ([[InlineMeter]]). It samples
  * the delivery rate, if a policy reads that ([[DeliveryMeter]]).
  */
class MeasureStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 2, HardType(MeasureState(config))) {
  import signals._
  private val Seq(s0, _, _, _, _, s5) = steps

  private val kept = new s0.Area {
    val probes = config.policiesPace generate insert(before.probes)
  }
  private val probes = config.policiesPace generate new ProbeLog(config, pipeline, signals, kept.probes, steps)

  private val rates = config.policiesEstimate generate new RateMeter(config, pipeline, signals, steps)
  if (!config.policiesEstimate) new s5.Area {
    RATES := RateWindows.none
    ESTIMATES := False
  }

  /** Connects the rate estimator. `window` is the connection's before the event, `reads` says that a policy of it reads
    * the rates; both on the congestion stage's first step.
    */
  def estimates(estimator: RateEstimator, window: Payload[Window], reads: Payload[Bool]): Unit =
    rates.connect(estimator, window, reads)

  private val inline =
    config.policiesMeasure generate new InlineMeter(config, pipeline, signals, probes, steps)
  if (!config.policiesMeasure) new s5.Area {
    INLINE := InlineResult.none
    INLINE_UPDATE := InlineUpdate.none
  }

  /** Connects the inline estimator. */
  def measures(estimator: InlineEstimator): Unit = inline.connect(estimator)

  /** Samples the delivery rate. `window` is the connection's before the event, on the congestion stage's first step. */
  def samples(window: Payload[Window]): Unit =
    new DeliveryMeter(config, pipeline, signals, steps, window).setCompositeName(this, "delivery")

  private val update = new s5.Area {
    PROBE_ACK := (if (config.policiesPace) probes.result else ProbeAck.none)

    val after = MeasureState(config)
    if (config.policiesPace) after.probes := probes.after
    write(after, LIVE || OPENING)
  }
}
