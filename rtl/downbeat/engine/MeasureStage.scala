// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.congestion.ProbeAnswer
import spinal.core._
import spinal.lib.misc.pipeline._

/** What measure keeps of a connection. */
case class MeasureState(config: DownbeatConfig) extends Bundle {
  val rttMinimum = config.policiesCompareRoundTrips generate UInt(36 bits) // ns; all ones: no sample yet
  val probes = config.policiesPace generate ProbeLogState()
}

/** Measure: what round trips and gaps tell. The smallest of a connection's samples, if a policy of the build compares with the unloaded path; and,
  * if one sends probes, which ACK answers which of them.
  */
class MeasureStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 2, HardType(MeasureState(config))) {
  import signals._
  private val Seq(s0, s1, _, _, _, s5) = steps

  if (config.policiesCompareRoundTrips) {
    val smaller = s0.insert(s0(RTT_VALID) && s0(RTT) < s0(before).rttMinimum)
    s1(RTT_MINIMUM) := s1(before).rttMinimum
    when(s1(smaller))(s1(RTT_MINIMUM) := s1(RTT))
    when(s1(OPENING))(s1(RTT_MINIMUM).setAll())
  } else s1(RTT_MINIMUM).setAll()

  private val probes = config.policiesPace generate new ProbeLog(config, pipeline, signals, s0.insert(s0(before).probes), steps)
  s5(PROBE_ANSWER) := (if (config.policiesPace) probes.result else ProbeAnswer.none)

  private val next = MeasureState(config)
  if (config.policiesCompareRoundTrips) next.rttMinimum := s5(RTT_MINIMUM)
  if (config.policiesPace) next.probes := probes.after
  write(next, s5(LIVE) || s5(OPENING))
}
