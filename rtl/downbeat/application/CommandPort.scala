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
  * A shutdown, close or abort must not overtake what the application wrote or asked for before it. Each command notes how many frames of
  * data had begun when it came; one of these goes on when the engine has been told of as many. Later frames hold up nobody. A close or
  * abort, behind which the flow may go to somebody else, also waits until nothing of an earlier receive command is left in the buffer.
  */
case class CommandPort(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val commands = slave(Stream(Command(config)))
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val requests = master(Stream(DeliveryRequest(config)))
    /** Shutdown, close, abort. */
    val events = master(Stream(ApplicationEvent(config)))
    /** Frames that have begun to enter the send buffer, and those of which the engine has been told; modulo 256. */
    val framesBegun, framesTold = in(UInt(CommandPort.frameBits bits))
    /** Nothing is on its way from the receive buffer to the engine; a clock after whatever made it so at the latest. */
    val receiveIdle = in(Bool())
    /** Commands of no known kind, since reset; they were dropped. */
    val unknown = out(UInt(32 bits))
    val idle = out(Bool())
  }
  noIoPrefix()

  // They wait with their number: before the port it would grow with what others write.
  private val waiting = io.commands.map { command =>
    val numbered = NumberedCommand(config)
    numbered.command := command
    numbered.framesBefore := io.framesBegun
    numbered
  }.queue(CommandPort.places, latency = 1)
  private val numbered = waiting.m2sPipe()
  private val command = numbered.map(_.command)
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
    private val waits = command.valid && ends
    private val ahead = io.framesTold - numbered.framesBefore // signed, for fewer than half of 256 are on their way
    /** It stays, however many later frames are told of. */
    val allTold = RegInit(False) setWhen (waits && !ahead.msb) clearWhen event.fire
    private val quiet = !io.requests.valid && io.receiveIdle
    val allRead = quiet && (RegNext(quiet) init False)
    event.valid := waits && allTold && (is(CommandKind.shutdown) || allRead)
    event.memoryError := False
    event.kind := EventKind.abort
    when(is(CommandKind.shutdown))(event.kind := EventKind.shutdown)
    when(is(CommandKind.close))(event.kind := EventKind.close)
    event.flow := command.flow
    event.length := 0
  }
  io.events << ending.event.m2sPipe()

  command.ready := !known || open.fire || listen.fire || receive.fire || ending.event.fire

  private val unknown = Reg(UInt(32 bits)) init 0
  when(command.valid && !known)(unknown := unknown + 1)
  io.unknown := unknown
  private val outputs = Seq(io.opens.valid, io.listens.valid, io.requests.valid, io.events.valid)
  io.idle := !waiting.valid && !command.valid && !outputs.orR
}

object CommandPort {
  /** A frame is a word of data at least, and fewer than half as many frames as can be counted are ever in the send buffer. */
  val frameBits = 8
  /** Commands that wait for their turn. */
  val places = 16
}

private case class NumberedCommand(config: DownbeatConfig) extends Bundle {
  val command = Command(config)
  val framesBefore = UInt(CommandPort.frameBits bits)
}
