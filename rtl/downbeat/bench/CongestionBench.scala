// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.calculation.Calculators
import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEvent, DeparturePlan, Window}
import downbeat.engine.congestion.CongestionStage
import downbeat.engine.pipeline.{EnginePipeline, Signals}
import spinal.core._
import spinal.lib._

/** For `make fmax`: the congestion stage alone in the engine's pipeline, with the calculation units of its policies.
  * Ports replace the stages before it and after it.
  */
case class CongestionBench(config: DownbeatConfig) extends Component {
  private val pipeline = new EnginePipeline(config.eventSpacing, config.ecc)
  private val signals = new Signals(config)
  private val stage = new CongestionStage(config, pipeline, signals)
  private val last = stage.steps.last
  new last.Area {
    out(CombInit[Window](signals.WINDOW)).setName("window")
    out(CombInit[DeparturePlan](signals.DEPARTURE)).setName("departure")
    out(CombInit[CongestionEvent](stage.EVENT)).setName("event")
  }
  if (config.policiesCalculate) {
    val units = Calculators(config)
    stage.calculates(units)
    master(units.io.result.combStage()).setName("result")
  }

  pipeline.entry.valid := in(Bool()).setName("valid")
  private val keys = pipeline.nodes.flatMap(_.keyToData.keys).distinct
  private val missing =
    keys.map(key => pipeline.nodes.find(_.keyToData.contains(key)).get(key)).flatMap(_.flatten).filter(_.dlcIsEmpty)
  for ((field, i) <- missing.zipWithIndex) {
    val port = cloneOf(field).asInput().setName(s"given_$i")
    field.assignFrom(port)
  }
  pipeline.build()
}
