// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.bench.BenchFifo
import downbeat.congestion.PolicyBench
import downbeat.pacing.{Pacer, Timers, TournamentTree}
import spinal.core.Component

/** Every component that is elaborated into a Verilog file of its own: one line each, named as the file will be. */
object Rooms {
  private val rooms: Map[String, DownbeatConfig => Component] = Map(
    "BenchFifo" -> (_ => new BenchFifo),
    "Pacer" -> (config => Pacer(config)),
    "Timers" -> (config => Timers(config)),
    "TournamentTree" -> (_ => TournamentTree(entries = 16)),
    "TournamentTree1024" -> (_ => TournamentTree(entries = 1024, timeBits = 64))
  )

  /** With a room for each congestion policy that is registered. */
  val all: Map[String, DownbeatConfig => Component] =
    rooms ++ PolicyBench.rooms.map { case (name, policy) => name -> ((_: DownbeatConfig) => PolicyBench(policy)) }
}
