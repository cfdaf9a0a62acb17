// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.{ApplicationEvent, ConnectionTimes, EventKind, ListenRequest, OpenCommand, PolicyChange}
import spinal.core._
import spinal.lib._

/** Sends doorbells and commands that have passed their checks to the engine and the directory.
  *
  * `tellsWritten`, `tellsConsumed`: the positions rung for `flow`; `acts`: the command itself, if its policies are
  * `legal`.
  */
class HostTelling(
    config: DownbeatConfig, decoder: HostDecoder, check: HostFlowCheck, flow: UInt, tellsWritten: Bool,
    tellsConsumed: Bool, acts: Bool, legal: Bool) extends Area {
  private val ends = acts && decoder.ends
  private val setsTimes = acts && decoder.is(HostOpcode.setTimes)
  val events = Stream(ApplicationEvent(config))
  private val anyWritten = tellsWritten && check.writtenLength =/= 0
  private val anyConsumed = tellsConsumed && check.consumedLength =/= 0
  events.valid := anyWritten || anyConsumed || ends || setsTimes
  events.flow := flow
  events.kind := tellsConsumed ? EventKind.consumed | EventKind.written
  when(ends) {
    events.kind := EventKind.abort
    when(decoder.is(HostOpcode.shutdown))(events.kind := EventKind.shutdown)
    when(decoder.is(HostOpcode.close))(events.kind := EventKind.close)
  }
  when(setsTimes)(events.kind := EventKind.setTimes)
  events.length := tellsConsumed ? check.consumedLength | check.writtenLength
  when(setsTimes)(events.length := ConnectionTimes(decoder.parameters))
  events.memoryError := False
  events.urgent := anyWritten && check.urgent

  private val begins = acts && !decoder.ofFlow
  val opens = Stream(OpenCommand(config))
  opens.valid := begins && decoder.is(HostOpcode.open) && legal
  opens.request := decoder.request
  opens.localPort := decoder.localPort
  opens.remoteIp := decoder.remoteIp
  opens.remotePort := decoder.remotePort
  opens.vlan := 0
  opens.parameters := decoder.parameters

  private val unlistens = decoder.is(HostOpcode.unlisten)
  val listens = Stream(ListenRequest(config))
  listens.valid := begins && (decoder.is(HostOpcode.listen) && legal || unlistens)
  listens.request := decoder.request
  listens.remove := unlistens
  listens.port := decoder.localPort
  listens.parameters := decoder.parameters

  val policies = config.policiesChoose generate Stream(PolicyChange(config))
  if (config.policiesChoose) {
    policies.valid := acts && decoder.setsPolicies && legal
    policies.payload.assignSomeByName(decoder.parameters)
    policies.flow := flow
    if (config.hostStart) policies.begins := decoder.is(HostOpcode.start)
  }
}
