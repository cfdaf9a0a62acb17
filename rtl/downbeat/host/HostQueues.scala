// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.application.FlowLine
import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Flows whose doorbells wait until commands that were announced before them are done: a queue for each port. */
class HostQueues(config: DownbeatConfig, ports: Vec[HostPortView]) extends Area {
  private val lines = Seq.fill(config.hostPorts)(FlowLine(config))
  /** The first of the queue must wait; for a command at least. */
  private val blocked = Vec.fill(config.hostPorts)(RegInit(False))
  for ((port, index) <- ports.zipWithIndex)
    when(RegNext(port.commandHead) =/= port.commandHead || !port.running)(blocked(index) := False)
  private val waiting = B(lines.zip(blocked).map { case (line, waits) => line.io.flows.valid && !waits })

  /** `flow` of `port` is to be looked at. */
  val ready: Bool = waiting.orR
  val port: UInt = OHToUInt(OHMasking.first(waiting)).resize(log2Up(config.hostPorts) max 1)
  val flow: UInt = Vec(lines.map(_.io.flows.payload))(port)
  val empty: Vec[Bool] = Vec(lines.map(_.io.empty))
  /** Nothing happens before a command is done. */
  val idle: Bool = lines.map(line => line.io.empty || line.io.flows.valid).andR && !ready

  /** The first flow of `port` waits for the next command. */
  def block(port: UInt): Unit = blocked(port) := True

  /** Changes the queue of `port`: its first flow leaves; `flow` joins it. */
  def drive(port: UInt, leaves: Bool, joins: Bool, flow: UInt): Unit =
    for ((line, index) <- lines.zipWithIndex) {
      line.io.flows.ready := leaves && port === index
      line.io.joins.valid := joins && port === index
      line.io.joins.payload := flow
    }
}
