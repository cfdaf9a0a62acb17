// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.DownbeatConfig
import downbeat.engine.{ApplicationEvent, EventKind}
import downbeat.flow.ListenRequest
import downbeat.memory.DeliveryRequest
import spinal.core._
import spinal.lib._

/** Sends each command where it is done, in the order in which they came.
  *
  * A shutdown, close or abort must not overtake what the application wrote or read before it: when every earlier
  * receive command has left, `hold` tells the buffers to begin nothing new, and the command goes on once `buffersIdle`
  * says that all that had begun is with the engine.
  */
case class CommandPort(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val commands = slave(Stream(Command(config)))
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val requests = master(Stream(DeliveryRequest(config)))
    /** Shutdown, close, abort. */
    val events = master(Stream(ApplicationEvent(config)))
    val hold = out(Bool())
    /** Nothing is on its way from the buffers to the engine; a clock after whatever made it so at the latest. */
    val buffersIdle = in(Bool())
    /** Commands of no known kind, since reset; they were dropped. */
    val unknown = out(UInt(32 bits))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val command = io.commands.m2sPipe()
  private def is(kind: CommandKind.E*): Bool = kind.map(command.kind === _).orR
  private val opens = is(CommandKind.open)
  private val listens = is(CommandKind.listen, CommandKind.unlisten)
  private val receives = is(CommandKind.receive)
  private val ends = is(CommandKind.shutdown, CommandKind.close, CommandKind.abort)
  private val known = opens || listens || receives || ends

  private val open = Stream(OpenCommand(config))
  open.valid := command.valid && opens
  open.payload.assignSomeByName(command.payload)
  io.opens << open.m2sPipe()

  private val listen = Stream(ListenRequest(config))
  listen.valid := command.valid && listens
  listen.request := command.request
  listen.remove := is(CommandKind.unlisten)
  listen.port := command.localPort
  listen.parameters := command.parameters
  io.listens << listen.m2sPipe()

  private val receive = Stream(DeliveryRequest(config))
  receive.valid := command.valid && receives
  receive.flow := command.flow
  receive.length := command.length
  io.requests << receive.m2sPipe()

  private val ending = new Area {
    val event = Stream(ApplicationEvent(config))
    // With a receive command still on its way, `hold` would keep it out for ever.
    val hold = RegNext(command.valid && ends && !io.requests.valid && !event.fire) init False
    // The buffers see `hold`, and show what they had begun, a clock later.
    val settled = RegNext(hold && !event.fire) init False
    event.valid := settled && io.buffersIdle
    event.memoryError := False
    event.kind := EventKind.abort
    when(is(CommandKind.shutdown))(event.kind := EventKind.shutdown)
    when(is(CommandKind.close))(event.kind := EventKind.close)
    event.flow := command.flow
    event.length := 0
  }
  io.hold := ending.hold
  io.events << ending.event.m2sPipe()

  command.ready := !known || open.fire || listen.fire || receive.fire || ending.event.fire

  private val unknown = Reg(UInt(32 bits)) init 0
  when(command.valid && !known)(unknown := unknown + 1)
  io.unknown := unknown
  private val outputs = Seq(io.opens.valid, io.listens.valid, io.requests.valid, io.events.valid)
  io.idle := !command.valid && !outputs.orR && !io.hold
}
