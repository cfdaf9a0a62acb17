// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{CommandPort, Notifier}
import downbeat.bench.{BenchFifo, LayoutBench}
import downbeat.flow.FlowDirectory
import downbeat.memory._
import spinal.core.Component

/** Every component that is elaborated into a Verilog file of its own: one line each, named as the file will be. */
object Rooms {
  val all: Map[String, DownbeatConfig => Component] = Map(
    "BenchFifo" -> (_ => new BenchFifo),
    "CommandPort" -> (CommandPort(_)),
    "FlowDirectory" -> (FlowDirectory(_)),
    "BurstReader" -> (config => BurstReader(config, config.receiveBufferBytes, config.receiveBase, 17)),
    "BurstWriter" -> (config => BurstWriter(config, config.receiveBufferBytes, config.receiveBase)),
    "LayoutBench" -> (LayoutBench(_)),
    "MemoryArbiter" -> (MemoryArbiter(_)),
    "Notifier" -> (Notifier(_)),
    "PayloadMemory" -> (PayloadMemory(_)),
    "PlacementWriter" -> (PlacementWriter(_)),
    "ReceiveBuffer" -> (ReceiveBuffer(_)),
    "SendBuffer" -> (SendBuffer(_))
  )
}
