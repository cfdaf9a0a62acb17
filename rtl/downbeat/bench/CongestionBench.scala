// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.calculation.Calculators
import downbeat.config.DownbeatConfig
import downbeat.engine.{CongestionStage, EnginePipeline, Signals}
import spinal.core._
import spinal.lib._

/** For `make fmax`: the congestion stage alone in the engine's line, with the calculation units of its policies. What the stages before it
  * give comes from ports, what it gives to those behind it goes to ports.
  */
case class CongestionBench(config: DownbeatConfig) extends Component {
  private val pipeline = new EnginePipeline(config.eventSpacing)
  private val signals = new Signals(config)
  private val stage = new CongestionStage(config, pipeline, signals)
  private val last = stage.steps.last
  out(CombInit(last(signals.WINDOW))).setName("window")
  out(CombInit(last(signals.DEPARTURE))).setName("departure")
  out(CombInit(last(stage.EVENT))).setName("event")
  if (config.policiesCalculate) {
    val units = Calculators(config)
    stage.calculates(units)
    master(units.io.result.combStage()).setName("result")
  }

  pipeline.entry.valid := in(Bool()).setName("valid")
  private val keys = pipeline.nodes.flatMap(_.keyToData.keys).distinct
  private val missing = keys.map(key => pipeline.nodes.find(_.keyToData.contains(key)).get(key)).flatMap(_.flatten).filter(_.dlcIsEmpty)
  for ((field, i) <- missing.zipWithIndex) {
    val port = cloneOf(field).asInput().setName(s"given_$i")
    field.assignFrom(port)
  }
  pipeline.build()
}
