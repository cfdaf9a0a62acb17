// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.bench.BenchFifo
import spinal.core.Component

/** Every component that is elaborated into a Verilog file of its own: one line each, named as the file will be. */
object Rooms {
  val all: Map[String, DownbeatConfig => Component] = Map(
    "BenchFifo" -> (_ => new BenchFifo)
  )
}
