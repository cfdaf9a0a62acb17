// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.Refusal
import spinal.core._
import spinal.lib._

/** Keeps the answers and errors of each port until its ring has space.
  *
  * A place is taken before there is an answer: by a command when its fetch begins, by an error when it is made. A
  * command that turns out to need no answer gives its place back. An open does so when it has become a connection,
  * which is told as a status. So no answer is lost, and none waits for another port.
  */
case class HostAnswers(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val answers = slave(Stream(HostAnswer(config)))
    /** Refusals of opens and listens, by the modules that do them. */
    val refusals = slave(Stream(Refusal(config)))
    val opened = slave(Flow(HostOpened(config)))
    /** A command's fetch begins; an error takes a place; a command gives its place back. */
    val reserves, claims, releases = in(Bits(count bits))
    /** There is a place for a command; there is one besides. */
    val commandSpace, errorSpace = out(Vec.fill(count)(Bool()))
    val lines = Vec.fill(count)(master(Stream(HostAnswer(config))))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val refusal = io.refusals.map { refused =>
    val answer = HostAnswer(config)
    answer.port := (refused.owner - 1).resized
    answer.isError := False
    answer.reason := refused.reason.asBits.resized
    answer.source := HostSource.command
    answer.request := refused.request
    answer.flow := 0
    answer.generation := 0
    answer.value := 0
    answer
  }
  private val merged = StreamArbiterFactory().lowerFirst.noLock.onArgs(refusal, io.answers).m2sPipe()
  private val sides = StreamDemux(merged, merged.port, count)
  for (index <- 0 until count) {
    val queue = StreamFifo(HostAnswer(config), HostPorts.answers)
    queue.io.push << sides(index)
    assert(!(queue.io.push.valid && !queue.io.push.ready), "an answer has no place")
    io.lines(index) << queue.io.pop

    val used = Reg(UInt(log2Up(HostPorts.answers + 1) bits)) init 0
    val connected = io.opened.valid && io.opened.active && io.opened.owner === index + 1
    val taken = io.reserves(index).asUInt +^ io.claims(index).asUInt
    val freed = io.lines(index).fire.asUInt +^ io.releases(index).asUInt +^ connected.asUInt
    used := used + taken - freed
    io.commandSpace(index) := used < HostPorts.answers
    io.errorSpace(index) := used < HostPorts.answers - 1
  }
  io.idle := !io.refusals.valid && !merged.valid
}
