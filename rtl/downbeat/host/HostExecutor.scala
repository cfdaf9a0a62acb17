// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.application.PolicyCheck
import downbeat.config.DownbeatConfig
import downbeat.messages.{
  ApplicationEvent, CloseReason, FlowPosition, ListenRequest, OpenCommand, PolicyChange, StartResult
}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** Does what the host writes, doorbell by doorbell and command by command, if it passes the checks ([[HostFlowCheck]],
  * [[HostIndexCheck]]).
  *
  * A data doorbell that passes is noted in its flow's record, and the flow joins its port's queue ([[HostQueues]]). It
  * leaves the queue when the commands that were announced before the doorbell are done; only then does the engine
  * receive it. A command for a flow first tells what was rung for it before, but a `start` not if anything was rung
  * behind it. So doorbells and commands of a flow keep the order of the host's writes. Bytes up to the last urgent one
  * are reported before those behind it.
  *
  * Nothing here waits for a host: responses and errors have places ([[HostResponses]]) before they are made.
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
    val writtenRung, writtenReported, consumedRung, consumedReported = master(Stream(FlowPosition(config)))
    // Results
    val events = master(Stream(ApplicationEvent(config)))
    val opens = master(Stream(OpenCommand(config)))
    val listens = master(Stream(ListenRequest(config)))
    val policies = config.policiesChoose generate master(Stream(PolicyChange(config)))
    /** The engine has taken or refused a `start`. */
    val started = config.hostStart generate slave(Flow(StartResult(config)))
    // Responses
    val responses = master(Stream(HostResponse(config)))
    /** The port has places for an error more than its commands need. */
    val space = in(Vec.fill(count)(Bool()))
    /** An error of the port takes a place; was counted; cannot be reported. A command needs no response. */
    val claims, errors, unreported, releases = out(Bits(count bits))
    val sweeping = in(Bool())
    val idle = out(Bool())
  }
  noIoPrefix()

  private object Step extends SpinalEnum {
    val idle, decode, classify, index, indexed, look, compare, judge, keep, join = newElement()
    val tellWritten, storeWritten, tellConsumed, storeConsumed, act, start, record, response, done = newElement()
  }
  private object Work extends SpinalEnum {
    val doorbell, waiting, command = newElement()
  }
  private val step = RegInit(Step.idle)
  private val work = Reg(Work())
  private val subject = Reg(HostSubject(config))
  import subject.{flow, generation, port, source, value}
  private val flowIndex = flow.resize(config.flowBits)
  private val ports = io.ports(port)
  private def ofPort(condition: Bool): Bits = condition ? (U(1, count bits) |<< port).asBits | B(0, count bits)

  private val decoder = new HostDecoder(config, io.commands.entry, io.commands.port)
  private val policyCheck = new PolicyCheck(config, decoder.parameters)

  private val queues = new HostQueues(config, io.ports)
  private val leaves = False
  queues.drive(port, leaves, step === Step.join, flowIndex)
  for (index <- 0 until count) io.settled(index) := queues.empty(index) && !(step =/= Step.idle && port === index)

  private val view = RegNextWhen(io.view, step === Step.compare)
  private val check = new HostFlowCheck(config, subject, work === Work.doorbell, view, ports)
  private val index = new HostIndexCheck(subject, ports)
  private val moves = step === Step.indexed && !index.backwards && !index.beyond && ports.running
  for (each <- 0 until count) {
    io.tails(each).valid := moves && index.ofTail && port === each
    io.tails(each).payload := value
    io.heads(each).valid := moves && !index.ofTail && port === each
    io.heads(each).index := value
    io.heads(each).arm := source === HostSource.notificationHeadArm
  }

  // ---- the steps

  private val response = new Area {
    val isError = Reg(Bool())
    val reason = Reg(cloneOf(io.responses.reason))
  }
  private val isCommand = work === Work.command
  private def refuse(error: HostError.C): Unit = {
    response.isError := True
    response.reason := error.asBits.resized
    step := Step.response
  }
  private def reply(reason: CloseReason.C): Unit = {
    response.isError := False
    response.reason := reason.asBits.resized
    step := Step.response
  }
  private def finish(): Unit = step := (isCommand ? Step.done | Step.idle)

  io.doorbells.ready := step === Step.idle && !io.sweeping
  io.commands.ready := step === Step.done
  io.look.valid := step === Step.look
  io.look.payload := flowIndex
  io.releases := 0
  switch(step) {
    is(Step.idle) {
      subject.reservedSet := False
      when(io.doorbells.fire) {
        work := Work.doorbell
        port := io.doorbells.port
        source := io.doorbells.kind
        value := io.doorbells.value
        flow := io.doorbells.flow
        generation := io.doorbells.generation
        val ofData = io.doorbells.kind === HostSource.written || io.doorbells.kind === HostSource.consumed
        subject.urgent := io.doorbells.urgent
        val urgentRead = io.doorbells.kind === HostSource.consumed && io.doorbells.urgent
        subject.reservedSet := ofData && (io.doorbells.reserved.orR || urgentRead)
        step := ofData ? Step.look | Step.index
      } elsewhen (queues.ready) {
        work := Work.waiting
        port := queues.port
        flow := queues.flow.resized
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
          step := (check.ahead === 0 || view.limits.ended) ? Step.idle | Step.keep
          when(check.error =/= HostError.none)(refuse(check.error))
        }
        is(Work.waiting) {
          when(check.isOwn && check.waits) {
            queues.block(port)
            step := Step.idle
          } otherwise {
            leaves := True
            step := (check.isOwn && !view.record.closed) ? Step.tellWritten | Step.idle
          }
        }
        is(Work.command) {
          // The engine refuses a start with data in flight, so what was rung behind it waits.
          step := (decoder.is(HostOpcode.start) && check.waits) ? Step.act | Step.tellWritten
          when(check.error =/= HostError.none)(refuse(check.error))
        }
      }
    }
    is(Step.keep)(when(io.update.ready && io.writtenRung.ready && io.consumedRung.ready)(step := Step.join))
    is(Step.join)(step := Step.idle)
    is(Step.tellWritten)(when(io.events.ready || check.writtenLength === 0)(step := Step.storeWritten))
    is(Step.storeWritten)(when(io.writtenReported.ready) {
      step := Step.tellConsumed
      when(check.more)(step := (isCommand ? Step.look | Step.join))
    })
    is(Step.tellConsumed)(when(io.events.ready || check.consumedLength === 0)(step := Step.storeConsumed))
    is(Step.storeConsumed)(when(io.consumedReported.ready)(step := (isCommand ? Step.act | Step.idle)))
    is(Step.act) {
      when(decoder.ends || decoder.is(HostOpcode.setTimes)) {
        when(io.events.ready)(step := Step.record)
      } elsewhen (decoder.is(HostOpcode.stamps)) {
        step := Step.record
      } elsewhen (!policyCheck.legal && !decoder.is(HostOpcode.unlisten)) {
        reply(policyCheck.reason)
      } elsewhen (decoder.is(HostOpcode.open)) {
        when(io.opens.ready)(step := Step.done)
      } elsewhen (decoder.setsPolicies) {
        if (config.policiesChoose) when(io.policies.ready) {
          if (config.hostStart)
            when(decoder.is(HostOpcode.start))(step := Step.start) otherwise reply(CloseReason.none())
          else reply(CloseReason.none())
        }
      } otherwise {
        when(io.listens.ready)(step := Step.done)
      }
    }
    is(Step.start) { // doorbells behind the command wait for it
      if (config.hostStart) when(io.started.valid) {
        when(io.started.accepted)(reply(CloseReason.none())) otherwise reply(CloseReason.inFlight())
      }
    }
    is(Step.record)(when(io.update.ready) {
      io.releases := ofPort(True)
      step := Step.done
    })
    is(Step.response)(when(io.responses.ready || !isCommand && !io.space(port))(finish()))
    is(Step.done)(step := Step.idle)
  }

  // ---- flows' records

  io.update.valid := step === Step.keep && io.writtenRung.ready && io.consumedRung.ready || step === Step.record
  io.update.flow := flowIndex
  io.update.record := view.record
  when(step === Step.keep) {
    io.update.record.after := ports.commandTail
    when(check.written) {
      io.update.record.urgent := subject.urgent || check.urgent
      when(subject.urgent)(io.update.record.urgentEnd := value)
    }
  }
  when(step === Step.record) {
    io.update.record.shutDown := view.record.shutDown || decoder.ends
    io.update.record.closed := view.record.closed || decoder.is(HostOpcode.close, HostOpcode.abort)
    io.update.record.stamped := view.record.stamped || decoder.is(HostOpcode.stamps)
  }
  private def position(stream: Stream[FlowPosition], valid: Bool, sequence: UInt): Unit = {
    stream.valid := valid
    stream.flow := flowIndex
    stream.sequence := SequenceNumber(sequence)
  }
  private val keeps = step === Step.keep && io.update.ready
  position(io.writtenRung, keeps && io.consumedRung.ready && check.written, value)
  position(io.consumedRung, keeps && io.writtenRung.ready && !check.written, value)
  // Only a reported position is stored: the peer's first number may have come since the flow was looked at.
  position(io.writtenReported, step === Step.storeWritten && check.writtenLength =/= 0, check.writtenEnd)
  position(io.consumedReported, step === Step.storeConsumed && check.consumedLength =/= 0, view.consumedRung)

  // ---- events for the engine and the directory

  private val telling = new HostTelling(
    config, decoder, check, flowIndex, tellsWritten = step === Step.tellWritten,
    tellsConsumed = step === Step.tellConsumed, acts = step === Step.act, legal = policyCheck.legal)
  io.events << telling.events
  io.opens << telling.opens
  io.listens << telling.listens
  if (config.policiesChoose) io.policies << telling.policies

  // ---- responses

  private val responding = step === Step.response
  private val tellable = isCommand || io.space(port)
  io.responses.valid := responding && tellable
  io.responses.isError := response.isError
  io.responses.reason := response.reason
  io.responses.port := port
  io.responses.source := source
  io.responses.flow := flow
  io.responses.generation := generation
  io.responses.value := value
  io.responses.request := isCommand ? decoder.request | U(0, 16 bits)
  private val leavesResponse = responding && (io.responses.ready || !tellable)
  io.claims := ofPort(leavesResponse && tellable && !isCommand)
  io.errors := ofPort(leavesResponse && response.isError)
  io.unreported := ofPort(leavesResponse && !tellable)

  io.idle := step === Step.idle && !io.doorbells.valid && !io.commands.valid && queues.idle
}
