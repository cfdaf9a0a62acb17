// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.bench.BenchFifo
import downbeat.flow.FlowDirectory
import downbeat.memory._
import spinal.core.Component

/** Every component that is elaborated into a Verilog file of its own: one line each, named as the file will be. */
object Rooms {
  val all: Map[String, DownbeatConfig => Component] = Map(
    "BenchFifo" -> (_ => new BenchFifo),
    "FlowDirectory" -> (FlowDirectory(_)),
    "BurstReader" -> (config => BurstReader(config, config.receiveBufferBytes, config.receiveBase, 17)),
    "BurstWriter" -> (config => BurstWriter(config, config.receiveBufferBytes, config.receiveBase)),
    "MemoryArbiter" -> (MemoryArbiter(_)),
    "PayloadMemory" -> (PayloadMemory(_)),
    "PlacementWriter" -> (PlacementWriter(_)),
    "ReceiveBuffer" -> (ReceiveBuffer(_)),
    "SendBuffer" -> (SendBuffer(_))
  )
}
