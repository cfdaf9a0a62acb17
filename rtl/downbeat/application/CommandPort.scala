// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.lib.{RegisteredHandshake, Tally, WideQueue}
import downbeat.messages.{
  ApplicationBeat, ApplicationEvent, CloseReason, Command, CommandKind, ConnectionTimes, DeliveryRequest, EventKind,
  ListenRequest, OpenCommand, PolicyChange, Refusal, StartResult
}
import spinal.core._
import spinal.lib._

/** Passes each command to its module, in the order in which the commands came.
  *
  * A shutdown, close or abort must not overtake data that the application wrote, or asked for, before it. So each
  * command notes how many frames of data had begun when it came. A shutdown, close or abort waits until the engine
  * knows of as many frames. Later frames delay no command. A close or abort also waits until the receive buffer has
  * nothing of an earlier receive command, because behind it the flow may belong to another connection.
  *
  * A `start` waits likewise, and then for the engine's response. Data that comes behind it waits in the send buffer
  * until then (`holds`), so that it does not overtake.
  *
  * A command that names unknown policies, or arguments that a policy does not take, is refused.
  */
case class CommandPort(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val commands = slave(Stream(Command(config)))
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val requests = master(Stream(DeliveryRequest(config)))
    /** Shutdown, close, abort, setTimes. */
    val events = master(Stream(ApplicationEvent(config)))
    val policies = config.policiesChoose generate master(Stream(PolicyChange(config)))
    val refused = master(Stream(Refusal(config)))
    /** The engine has taken or refused a `start`. */
    val started = config.hostStart generate slave(Flow(StartResult(config)))
    /** The engine gets no further frame: it came behind a `start`. */
    val holds = out(Bool())
    /** Frames that have begun to enter the send buffer, and those that the engine has received; modulo 256. */
    val framesBegun, framesReported = in(UInt(ApplicationBeat.frameCountBits bits))
    /** Nothing is on its way from the receive buffer to the engine; a clock after whatever made it so at the latest. */
    val receiveIdle = in(Bool())
    /** Commands of no known kind, since reset; they were dropped. */
    val unknown = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val framesBegun = RegNext(io.framesBegun) init 0 // when a command came: a clock ago
  // They wait with their number: before the port it would grow with what others write.
  private val registered = RegisteredHandshake(io.commands)
  /** A `start` is on its way, and how many frames had begun when it came. A second one waits before the port. */
  private val start = new Area {
    val waits = RegInit(False)
    val framesBefore = Reg(UInt(ApplicationBeat.frameCountBits bits))
    private val ahead = io.framesReported - framesBefore // signed, as below
    io.holds := waits && !ahead.msb
    def is(command: Command): Bool = if (config.hostStart) command.kind === CommandKind.start else False
  }
  private val came = registered.haltWhen(start.waits && start.is(registered.payload))
  private val waiting = WideQueue(NumberedCommand(config), CommandPort.places)
  waiting.io.push << came.map { command =>
    val numbered = NumberedCommand(config)
    numbered.command := command
    numbered.framesBefore := framesBegun
    numbered
  }
  private val numbered = waiting.io.pop.halfPipe()
  private val command = numbered.map(_.command)
  private def is(kind: CommandKind.E*): Bool = kind.map(command.kind === _).orR
  private val opens = is(CommandKind.open)
  private val listens = is(CommandKind.listen, CommandKind.unlisten)
  private val receives = is(CommandKind.receive)
  private val ends = is(CommandKind.shutdown, CommandKind.close, CommandKind.abort)
  private val sets = if (config.policiesChoose) is(CommandKind.setPolicies) else False
  private val times = is(CommandKind.setTimes)
  private val starts = start.is(command.payload)
  private val known = opens || listens || receives || ends || times || sets || starts
  when(came.fire && start.is(came.payload)) {
    start.waits := True
    start.framesBefore := framesBegun
  }

  private val verdict = new Area {
    private val check = new PolicyCheck(config, command.parameters)
    private val waited = Reg(UInt(log2Up(PolicyCheck.clocks + 1) bits)) init 0
    when(command.valid && waited =/= PolicyCheck.clocks)(waited := waited + 1)
    when(command.fire)(waited := 0)
    private val judges = command.valid && (opens || is(CommandKind.listen) || sets || starts)
    private val judged = waited === PolicyCheck.clocks
    val passes = command.valid && (!judges || judged && check.legal)
    /** The engine has answered. */
    val started, unstarted = RegInit(False)
    if (config.hostStart) when(io.started.valid) {
      started := True
      unstarted := !io.started.accepted
    }
    when(command.fire) {
      started := False
      unstarted := False
    }
    val refusal = Stream(Refusal(config))
    refusal.valid := judges && judged && !check.legal || unstarted
    refusal.request := command.request
    refusal.returnsTo(command.parameters)
    refusal.reason := check.reason
    when(unstarted)(refusal.reason := CloseReason.inFlight)
    val done = started && !unstarted
  }
  when(command.fire && starts)(start.waits := False)
  io.refused << verdict.refusal.halfPipe()

  private val open = Stream(OpenCommand(config))
  open.valid := verdict.passes && opens
  open.payload.assignSomeByName(command.payload)
  io.opens << RegisteredHandshake(open)

  private val listen = Stream(ListenRequest(config))
  listen.valid := verdict.passes && listens
  listen.request := command.request
  listen.remove := is(CommandKind.unlisten)
  listen.port := command.localPort
  listen.parameters := command.parameters
  io.listens << RegisteredHandshake(listen)

  private val receive = Stream(DeliveryRequest(config))
  receive.valid := command.valid && receives
  receive.flow := command.flow
  receive.length := command.length
  io.requests << receive.halfPipe()

  private val ending = new Area {
    val event = Stream(ApplicationEvent(config))
    private val waits = command.valid && (ends || starts)
    private val ahead = io.framesReported - numbered.framesBefore // signed, for fewer than half of 256 are on their way
    /** It stays, however many later frames are reported. */
    val allReported = RegInit(False) setWhen (waits && !ahead.msb) clearWhen command.fire
    // A clock late, as `allReported` is.
    private val quiet = RegNext(!io.requests.valid && io.receiveIdle) init False
    val allRead = quiet && (RegNext(quiet) init False)
    event.valid := waits && ends && allReported && (is(CommandKind.shutdown) || allRead) || command.valid && times
    event.memoryError := False
    event.kind := EventKind.abort
    when(is(CommandKind.shutdown))(event.kind := EventKind.shutdown)
    when(is(CommandKind.close))(event.kind := EventKind.close)
    when(times)(event.kind := EventKind.setTimes)
    event.flow := command.flow
    event.length := times ? ConnectionTimes(command.parameters) | U(0, 32 bits)
    event.urgent := False
  }
  private val change = Stream(PolicyChange(config))
  private val requested = RegInit(False) setWhen (change.fire && starts) clearWhen command.fire
  change.valid := verdict.passes && (sets || starts && ending.allReported && !requested)
  change.payload.assignSomeByName(command.parameters)
  change.flow := command.flow
  if (config.hostStart) change.begins := starts
  if (config.policiesChoose) io.policies << RegisteredHandshake(change) else change.ready := True
  io.events << ending.event.halfPipe()

  private val taken = open.fire || listen.fire || receive.fire || change.fire && !starts || ending.event.fire
  command.ready := !known || taken || verdict.done || verdict.refusal.fire

  io.unknown := Tally(command.valid && !known, config.counterBits)
  io.idle := !came.valid && waiting.io.occupancy === 0 && !command.valid && !io.requests.valid && !io.events.valid && !io.refused.valid
}

object CommandPort {
  /** Commands that wait for their turn. */
  val places = 16
}

private case class NumberedCommand(config: DownbeatConfig) extends Bundle {
  val command = Command(config)
  val framesBefore = UInt(ApplicationBeat.frameCountBits bits)
}
