// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.Refusal
import spinal.core._
import spinal.lib._

/** Keeps the responses and errors of each port until its ring has space.
  *
  * A place is taken before there is a response: by a command when its fetch begins, by an error when it is made. A
  * command that turns out to need no response gives its place back. An open does so when it has become a connection,
  * which is reported as a status. So no response is lost, and none waits for another port.
  */
case class HostResponses(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val responses = slave(Stream(HostResponse(config)))
    /** Refusals of opens and listens, by the modules that do them. */
    val refusals = slave(Stream(Refusal(config)))
    val opened = slave(Flow(HostOpened(config)))
    /** A command's fetch begins; an error takes a place; a command gives its place back. */
    val reserves, claims, releases = in(Bits(count bits))
    /** There is a place for a command; there is one besides. */
    val commandSpace, errorSpace = out(Vec.fill(count)(Bool()))
    val lines = Vec.fill(count)(master(Stream(HostResponse(config))))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val refusal = io.refusals.map { refused =>
    val response = HostResponse(config)
    response.port := (refused.owner - 1).resized
    response.isError := False
    response.reason := refused.reason.asBits.resized
    response.source := HostSource.command
    response.request := refused.request
    response.flow := 0
    response.generation := 0
    response.value := 0
    response
  }
  private val merged = StreamArbiterFactory().lowerFirst.noLock.onArgs(refusal, io.responses).m2sPipe()
  private val sides = StreamDemux(merged, merged.port, count)
  for (index <- 0 until count) {
    val queue = StreamFifo(HostResponse(config), HostPorts.responses)
    queue.io.push << sides(index)
    assert(!(queue.io.push.valid && !queue.io.push.ready), "a response has no place")
    io.lines(index) << queue.io.pop

    val used = Reg(UInt(log2Up(HostPorts.responses + 1) bits)) init 0
    val connected = io.opened.valid && io.opened.active && io.opened.owner === index + 1
    val taken = io.reserves(index).asUInt +^ io.claims(index).asUInt
    val freed = io.lines(index).fire.asUInt +^ io.releases(index).asUInt +^ connected.asUInt
    used := used + taken - freed
    io.commandSpace(index) := used < HostPorts.responses
    io.errorSpace(index) := used < HostPorts.responses - 1
  }
  io.idle := !io.refusals.valid && !merged.valid
}
