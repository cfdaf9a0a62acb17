// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.application.{FlowLine, PolicyCheck}
import downbeat.config.DownbeatConfig
import downbeat.messages.{
  ApplicationEvent, CloseReason, EventKind, FlowPosition, ListenRequest, OpenCommand, PolicyChange, StartAnswer
}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** Checks what the host writes, doorbell by doorbell and command by command, and does it.
  *
  * A data doorbell that passes is noted in its flow's record, and the flow joins its port's queue. It leaves the queue
  * when the commands that were announced before the doorbell are done; only then is the engine told. A command for a
  * flow first tells what was rung for it before. So doorbells and commands of a flow keep the order of the host's
  * writes.
  *
  * Nothing here waits for a host: answers and errors have places ([[HostAnswers]]) before they are made.
  */
case class HostExecutor(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val doorbells = slave(Stream(Doorbell(config)))
    /** Taken when it is done. */
    val commands = slave(Stream(HostCommand(config)))
    val ports = in(Vec.fill(count)(HostPortView()))
    val tails = Vec.fill(count)(master(Flow(UInt(32 bits))))
    val heads = Vec.fill(count)(master(Flow(HostHead())))
    /** No doorbell of the port waits. */
    val settled = out(Vec.fill(count)(Bool()))
    // Flows
    val look = master(Stream(UInt(config.flowBits bits)))
    val view = in(HostView(config))
    val update = master(Stream(HostRecordUpdate(config)))
    val writtenRung, writtenTold, consumedRung, consumedTold = master(Stream(FlowPosition(config)))
    // What is done
    val events = master(Stream(ApplicationEvent(config)))
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val policies = config.policiesChoose generate master(Stream(PolicyChange(config)))
    /** The engine has taken or refused a `start`. */
    val started = config.hostStart generate slave(Flow(StartAnswer(config)))
    // Answers
    val answers = master(Stream(HostAnswer(config)))
    /** The port has places for an error more than its commands need. */
    val space = in(Vec.fill(count)(Bool()))
    /** An error of the port takes a place; was counted; cannot be told. A command needs no answer. */
    val claims, errors, untold, releases = out(Bits(count bits))
    val sweeping = in(Bool())
    val idle = out(Bool())
  }
  noIoPrefix()

  private object Step extends SpinalEnum {
    val idle, decode, classify, index, indexed, look, compare, judge, keep, join = newElement()
    val tellWritten, toldWritten, tellConsumed, toldConsumed, act, start, record, answer, done = newElement()
  }
  private object Work extends SpinalEnum {
    val doorbell, waiting, command = newElement()
  }
  private val step = RegInit(Step.idle)
  private val work = Reg(Work())
  private val port = Reg(HostPorts.index(config))
  private val source = Reg(HostSource())
  private val flow = Reg(UInt(16 bits))
  private val generation = Reg(UInt(8 bits))
  private val value = Reg(UInt(32 bits))
  private val reservedSet = Reg(Bool())
  private val flowIndex = flow.resize(config.flowBits)
  private val ports = io.ports(port)
  private def ofPort(condition: Bool): Bits = condition ? (U(1, count bits) |<< port).asBits | B(0, count bits)

  private val decoder = new HostDecoder(config, io.commands.entry, io.commands.port)
  private val setsPolicies = decoder.is(HostOpcode.setPolicies, HostOpcode.start)
  private val policyCheck = new PolicyCheck(config, decoder.parameters)

  // ---- flows whose doorbells wait for commands before them

  private val lines = Seq.fill(count)(FlowLine(config))
  /** The first of the queue must wait; for a command at least. */
  private val blocked = Vec.fill(count)(RegInit(False))
  for ((port, index) <- io.ports.zipWithIndex)
    when(RegNext(port.commandHead) =/= port.commandHead || !port.running)(blocked(index) := False)
  private val ready = B(lines.zip(blocked).map { case (line, waits) => line.io.flows.valid && !waits })
  private val readyPort = OHToUInt(OHMasking.first(ready)).resize(widthOf(port))
  private val leaves = False
  for ((line, index) <- lines.zipWithIndex) {
    line.io.flows.ready := leaves && port === index
    line.io.joins.valid := step === Step.join && port === index
    line.io.joins.payload := flowIndex
    io.settled(index) := line.io.empty && !(step =/= Step.idle && port === index)
  }

  // ---- what a look at the flow says: in registers, then compared

  private val seen = new Area {
    val view = RegNextWhen(io.view, step === Step.compare)
    val owner = port +^ 1
    val inRange = if (config.flowBits == 16) True else !(flow >> config.flowBits).orR
    val written = source === HostSource.written
    private val rung = written ? view.writtenRung | view.consumedRung
    private val limit = written ? (view.limits.acknowledged + config.sendBufferBytes) | view.limits.received
    val ahead = value - rung
    val backwards = ahead.msb
    val beyond = (limit - value).msb || !written && !view.limits.synchronized
    val isOwn = view.record.owner === owner.resized
    val announced = view.limits.heard && view.limits.generation === view.record.generation
    /** Commands before its last doorbell are not done. */
    val waits = ports.running && (ports.commandHead - view.record.after).msb
    val error = HostError()
    error := HostError.none
    when(work === Work.doorbell && !view.limits.ended) {
      when(beyond)(error := HostError.beyond)
      when(backwards)(error := HostError.backwards)
      when(written && view.record.shutDown)(error := HostError.shutDown)
    }
    when(view.record.closed || !announced)(error := HostError.notOpen)
    when(generation =/= view.record.generation)(error := HostError.generation)
    when(!isOwn)(error := HostError.owner)
    when(!view.limits.heard)(error := HostError.notOpen)
    when(!inRange)(error := HostError.flow)
    when(reservedSet)(error := HostError.reserved)
    val writtenLength = view.writtenRung - view.writtenTold
    val consumedLength = view.consumedRung - view.consumedTold
  }

  // ---- ring indexes

  private val index = new Area {
    private val ofTail = source === HostSource.commandTail
    private val before = ofTail ? ports.commandTail | ports.notificationHead
    private val space = (U(1, 32 bits) |<< ports.commandSize)
    private val limit = ofTail ? (ports.commandHead + space) | ports.notificationShown
    val backwards = RegNext((value - before).msb)
    val beyond = RegNext((limit - value).msb)
    val moves = step === Step.indexed && !backwards && !beyond && ports.running
    for (index <- 0 until count) {
      io.tails(index).valid := moves && ofTail && port === index
      io.tails(index).payload := value
      io.heads(index).valid := moves && !ofTail && port === index
      io.heads(index).index := value
      io.heads(index).arm := source === HostSource.notificationHeadArm
    }
  }

  // ---- the steps

  private val answer = new Area {
    val isError = Reg(Bool())
    val reason = Reg(cloneOf(io.answers.reason))
  }
  private val isCommand = work === Work.command
  private def refuse(error: HostError.C): Unit = {
    answer.isError := True
    answer.reason := error.asBits.resized
    step := Step.answer
  }
  private def reply(reason: CloseReason.C): Unit = {
    answer.isError := False
    answer.reason := reason.asBits.resized
    step := Step.answer
  }
  private def finish(): Unit = step := (isCommand ? Step.done | Step.idle)

  io.doorbells.ready := step === Step.idle && !io.sweeping
  io.commands.ready := step === Step.done
  io.look.valid := step === Step.look
  io.look.payload := flowIndex
  io.releases := 0
  switch(step) {
    is(Step.idle) {
      reservedSet := False
      when(io.doorbells.fire) {
        work := Work.doorbell
        port := io.doorbells.port
        source := io.doorbells.kind
        value := io.doorbells.value
        flow := io.doorbells.flow
        generation := io.doorbells.generation
        val ofData = io.doorbells.kind === HostSource.written || io.doorbells.kind === HostSource.consumed
        reservedSet := ofData && io.doorbells.reserved.orR
        step := ofData ? Step.look | Step.index
      } elsewhen (ready.orR) {
        work := Work.waiting
        port := readyPort
        flow := Vec(lines.map(_.io.flows.payload))(readyPort).resized
        step := Step.look
      } elsewhen (io.commands.valid) {
        work := Work.command
        port := io.commands.port
        source := HostSource.command
        step := Step.decode
      }
    }
    is(Step.decode) {
      value := ports.commandHead
      flow := decoder.flow
      generation := decoder.generation
      step := Step.classify
    }
    is(Step.classify) {
      step := decoder.ofFlow ? Step.look | Step.act
      when(decoder.error =/= HostError.none)(refuse(decoder.error))
    }
    is(Step.index)(step := Step.indexed)
    is(Step.indexed) {
      step := Step.idle
      when(ports.running) {
        when(index.beyond)(refuse(HostError.beyond()))
        when(index.backwards)(refuse(HostError.backwards()))
      }
    }
    is(Step.look)(when(io.look.ready)(step := Step.compare))
    is(Step.compare)(step := Step.judge)
    is(Step.judge) {
      switch(work) {
        is(Work.doorbell) {
          step := (seen.ahead === 0 || seen.view.limits.ended) ? Step.idle | Step.keep
          when(seen.error =/= HostError.none)(refuse(seen.error))
        }
        is(Work.waiting) {
          when(seen.isOwn && seen.waits) {
            blocked(port) := True
            step := Step.idle
          } otherwise {
            leaves := True
            step := (seen.isOwn && !seen.view.record.closed) ? Step.tellWritten | Step.idle
          }
        }
        is(Work.command) {
          step := Step.tellWritten
          when(seen.error =/= HostError.none)(refuse(seen.error))
        }
      }
    }
    is(Step.keep)(when(io.update.ready && io.writtenRung.ready && io.consumedRung.ready)(step := Step.join))
    is(Step.join)(step := Step.idle)
    is(Step.tellWritten)(when(io.events.ready || seen.writtenLength === 0)(step := Step.toldWritten))
    is(Step.toldWritten)(when(io.writtenTold.ready)(step := Step.tellConsumed))
    is(Step.tellConsumed)(when(io.events.ready || seen.consumedLength === 0)(step := Step.toldConsumed))
    is(Step.toldConsumed)(when(io.consumedTold.ready)(step := (isCommand ? Step.act | Step.idle)))
    is(Step.act) {
      when(decoder.ofFlow && !setsPolicies) {
        when(io.events.ready)(step := Step.record)
      } elsewhen (!policyCheck.legal && !decoder.is(HostOpcode.unlisten)) {
        reply(policyCheck.reason)
      } elsewhen (decoder.is(HostOpcode.open)) {
        when(io.opens.ready)(step := Step.done)
      } elsewhen (setsPolicies) {
        if (config.policiesChoose) when(io.policies.ready) {
          if (config.hostStart)
            when(decoder.is(HostOpcode.start))(step := Step.start) otherwise reply(CloseReason.none())
          else reply(CloseReason.none())
        }
      } otherwise {
        when(io.listens.ready)(step := Step.done)
      }
    }
    is(Step.start) { // what is rung for behind the command waits for it
      if (config.hostStart) when(io.started.valid) {
        when(io.started.accepted)(reply(CloseReason.none())) otherwise reply(CloseReason.inFlight())
      }
    }
    is(Step.record)(when(io.update.ready) {
      io.releases := ofPort(True)
      step := Step.done
    })
    is(Step.answer)(when(io.answers.ready || !isCommand && !io.space(port))(finish()))
    is(Step.done)(step := Step.idle)
  }

  // ---- flows' records

  io.update.valid := step === Step.keep && io.writtenRung.ready && io.consumedRung.ready || step === Step.record
  io.update.flow := flowIndex
  io.update.record := seen.view.record
  when(step === Step.keep)(io.update.record.after := ports.commandTail)
  when(step === Step.record) {
    io.update.record.shutDown := True
    when(!decoder.is(HostOpcode.shutdown))(io.update.record.closed := True)
  }
  private def position(stream: Stream[FlowPosition], valid: Bool, sequence: UInt): Unit = {
    stream.valid := valid
    stream.flow := flowIndex
    stream.sequence := SequenceNumber(sequence)
  }
  private val keeps = step === Step.keep && io.update.ready
  position(io.writtenRung, keeps && io.consumedRung.ready && seen.written, value)
  position(io.consumedRung, keeps && io.writtenRung.ready && !seen.written, value)
  position(io.writtenTold, step === Step.toldWritten, seen.view.writtenRung)
  position(io.consumedTold, step === Step.toldConsumed, seen.view.consumedRung)

  // ---- what the engine and the directory are told

  private val ends = step === Step.act && decoder.ofFlow && !setsPolicies
  private val tellsConsumed = step === Step.tellConsumed
  private val tellsWritten = step === Step.tellWritten
  io.events.valid := tellsWritten && seen.writtenLength =/= 0 || tellsConsumed && seen.consumedLength =/= 0 || ends
  io.events.flow := flowIndex
  io.events.kind := tellsConsumed ? EventKind.consumed | EventKind.written
  when(ends) {
    io.events.kind := EventKind.abort
    when(decoder.is(HostOpcode.shutdown))(io.events.kind := EventKind.shutdown)
    when(decoder.is(HostOpcode.close))(io.events.kind := EventKind.close)
  }
  io.events.length := tellsConsumed ? seen.consumedLength | seen.writtenLength
  io.events.memoryError := False
  io.events.urgent := False

  private val begins = step === Step.act && !decoder.ofFlow
  io.opens.valid := begins && decoder.is(HostOpcode.open) && policyCheck.legal
  io.opens.request := decoder.request
  io.opens.localPort := decoder.localPort
  io.opens.remoteIp := decoder.remoteIp
  io.opens.remotePort := decoder.remotePort
  io.opens.vlan := 0
  io.opens.parameters := decoder.parameters
  private val unlistens = decoder.is(HostOpcode.unlisten)
  io.listens.valid := begins && (decoder.is(HostOpcode.listen) && policyCheck.legal || unlistens)
  io.listens.request := decoder.request
  io.listens.remove := unlistens
  io.listens.port := decoder.localPort
  io.listens.parameters := decoder.parameters
  if (config.policiesChoose) {
    io.policies.valid := step === Step.act && setsPolicies && policyCheck.legal
    io.policies.payload.assignSomeByName(decoder.parameters)
    io.policies.flow := flowIndex
    if (config.hostStart) io.policies.begins := decoder.is(HostOpcode.start)
  }

  // ---- answers

  private val answering = step === Step.answer
  private val tellable = isCommand || io.space(port)
  io.answers.valid := answering && tellable
  io.answers.isError := answer.isError
  io.answers.reason := answer.reason
  io.answers.port := port
  io.answers.source := source
  io.answers.flow := flow
  io.answers.generation := generation
  io.answers.value := value
  io.answers.request := isCommand ? decoder.request | U(0, 16 bits)
  private val leavesAnswer = answering && (io.answers.ready || !tellable)
  io.claims := ofPort(leavesAnswer && tellable && !isCommand)
  io.errors := ofPort(leavesAnswer && answer.isError)
  io.untold := ofPort(leavesAnswer && !tellable)

  io.idle := step === Step.idle && !io.doorbells.valid && !io.commands.valid && !ready.orR && lines.map { line =>
    line.io.empty || line.io.flows.valid
  }.andR
}
