// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.EngineEvent
import spinal.core._
import spinal.lib._

/** Takes the events of all sources, round robin, one in `eventSpacing` clocks. That is far enough apart for two events
  * of one flow, so nothing is compared and no event passes another.
  */
class SpacedArbiter(config: DownbeatConfig, sources: Seq[EventSource]) extends EventLine {
  val permitted = Vec(Bool(), sources.size)

  /** One-hot, for one clock: the source whose word goes. */
  private val choice = Reg(Bits(sources.size bits)) init 0
  private val last = Reg(Bits(sources.size bits)) init 1
  private val rested = Reg(Bool()) init True
  private val pause = Reg(UInt(log2Up(config.eventSpacing) bits)) // clocks until it is rested

  private val requests = B(sources.zip(permitted).map { case (source, may) => source.words.valid && may })
  choice := 0
  pause := pause - 1
  when(pause === 0)(rested := True)
  when(rested) {
    choice := OHMasking.roundRobin(requests, last.rotateLeft(1))
    pause := config.eventSpacing - 2
    rested := !requests.orR
  }
  when(choice.orR)(last := choice)
  for ((source, chosen) <- sources.zip(choice.asBools)) source.words.ready := chosen

  val issued: Bool = choice.orR
  val output = Flow(EngineEvent(config))
  output.valid := issued
  output.payload := eventOf(config,
    sources.zip(choice.asBools).map { case (source, chosen) => (chosen, source.event(source.words.payload)) })

  val isEmpty: Bool = !sources.map(_.words.valid).orR && !issued
}
