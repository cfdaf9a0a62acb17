// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib.misc.pipeline._

/** What measure keeps of a connection. */
case class MeasureState() extends Bundle {
  val rttMinimum = UInt(36 bits) // ns; all ones: no sample yet
}

/** Measure: what the round trips tell. The smallest of a connection's samples, for policies that compare with the unloaded path. */
class MeasureStage(config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals)
    extends Stage(config, pipeline, signals, 2, HardType(MeasureState())) {
  import signals._
  private val Seq(s0, s1, _, _, _, s5) = steps

  private val smaller = s0.insert(s0(RTT_VALID) && s0(RTT) < s0(before).rttMinimum)
  s1(RTT_MINIMUM) := s1(before).rttMinimum
  when(s1(smaller))(s1(RTT_MINIMUM) := s1(RTT))
  when(s1(OPENING))(s1(RTT_MINIMUM).setAll())

  private val next = MeasureState()
  next.rttMinimum := s5(RTT_MINIMUM)
  write(next, s5(LIVE) || s5(OPENING))
}
