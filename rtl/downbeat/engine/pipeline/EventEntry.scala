// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.pipeline

import downbeat.config.DownbeatConfig
import downbeat.time.{Epoch, Instant}
import spinal.core._
import spinal.lib._

/** Puts each event that the arbiter has chosen on the pipeline's first node, with the time at which the engine takes
  * it.
  */
class EventEntry(
    config: DownbeatConfig, pipeline: EnginePipeline, signals: Signals, events: Flow[EngineEvent], now: Instant)
    extends Area {
  import signals._

  private val wraps = new Epoch(now)
  def epoch: UInt = wraps.wraps
  /** The count of the clock's wraps is about to change: the engine must not stand still. */
  def turns: Bool = wraps.turns

  private val event = events.payload
  private val entry = pipeline.entry
  entry.valid := events.valid
  new entry.Area {
    KIND := event.kind
    FLOW := event.reference.flow
    GENERATION := event.reference.generation
    NOW := now
    EPOCH := epoch
    FRESH := event.fresh
    COOKIE := event.cookie
    SEQUENCE := event.sequence
    ACKNOWLEDGMENT := event.acknowledgment
    FLAGS := event.flags
    WINDOW_FIELD := event.window
    URGENT_POINTER := event.urgentPointer
    OPTIONS := event.options
    LENGTH := event.length
    PAYLOAD := event.payload
    MARKED := event.congestionExperienced
    STAMP := event.stamp
    PARAMETERS := event.parameters
    INITIAL_SEQUENCE := event.initialSequence
    TIMESTAMP_OFFSET := event.timestampOffset
    MEMORY_ERROR := event.memoryError
    LATE := event.late
    MODE := event.mode
    MEASURED := event.probe
    BEGINS := event.begins
    HALF_WAY := event.halfWay
    if (config.policiesCalculate) CALCULATED := event.calculated
    if (config.policiesEstimate) ESTIMATED := event.rates
    if (config.policiesMeasure) MEASURED_INLINE := event.inline
  }
}
