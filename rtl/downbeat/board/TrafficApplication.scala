// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.config.DownbeatConfig
import downbeat.messages.{
  ApplicationBeat, CloseReason, Command, CommandKind, DeliveredBeat, FlowStatus, Notification, Refusal, TcpState
}
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** Bytes that a flow is to send, besides those that it has been given. */
case class TrafficSupply(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val bytes = UInt(40 bits)
  /** Then the connection is closed. */
  val closes = Bool()
}

/** A flow, as the application on the board knows it. */
case class TrafficFlow(config: DownbeatConfig) extends Bundle {
  val known = Bool() // it has had a connection
  val generation = UInt(config.generationBits bits)
  val state = TcpState()
  val reason = CloseReason()
  val acknowledged = SequenceNumber()
  /** Behind the last byte that the core was given. */
  val handed = SequenceNumber()
  /** Behind the last byte that was requested. */
  val requested = SequenceNumber()
  val peerFinished = Bool()
  /** Bytes still to send. */
  val supply = UInt(40 bits)
  val closes = Bool()
  /** The core has received the command to close it. */
  val closed = Bool()
}

/** Source and sink of every connection, without a host. It sends as many bytes as it is supplied with, as fast as the
  * buffers take them, and reads all that comes.
  *
  * Each byte sent is the low byte of its sequence number. A connection is closed when its peer has finished and nothing
  * is left to send, when it has ended, or when its supply says so.
  */
case class TrafficApplication(config: DownbeatConfig) extends Component {
  import TrafficApplication._
  val io = new Bundle {
    val notifications = slave(Stream(Notification(config)))
    val commands = master(Stream(Command(config)))
    val send = master(Stream(ApplicationBeat(config)))
    val received = slave(Stream(DeliveredBeat(config)))
    // The host's
    val command = slave(Stream(Command(config)))
    val supply = slave(Stream(TrafficSupply(config)))
    val refused = master(Flow(Refusal(config)))
    val select = in UInt (config.flowBits bits)
    val flow = out(TrafficFlow(config)) // the selected one, two clocks later
    val receivedBytes = out UInt (40 bits)
    val damagedFrames = out UInt (32 bits)
  }
  noIoPrefix()

  private object Phase extends SpinalEnum {
    val sweeping, waiting, noticing, looking, supplying, commanding, fetching, sending, closing, storing = newElement()
  }
  import Phase._

  private val flows = Mem(TrafficFlow(config), config.flows)
  private val phase = RegInit(sweeping)
  private val index = Reg(UInt(config.flowBits bits)) init 0
  private val word = Reg(TrafficFlow(config))
  private val turn = Reg(UInt(config.flowBits bits)) init 0
  private val status = Reg(FlowStatus(config))
  private val left = Reg(UInt(log2Up(chunkBytes + 1) bits)) // bytes of the frame

  private val sweeps = phase === sweeping
  private val empty = TrafficFlow(config)
  empty.assignFromBits(B(0, widthOf(empty) bits))
  flows.write(index, sweeps ? empty | word, sweeps || phase === storing)
  io.flow := RegNext(flows.readAsync(RegNext(io.select)))

  private val fresh = !word.known || word.generation =/= status.reference.generation
  private val end = status.received.value - status.peerFinished.asUInt
  private val requestLength = Reg(UInt(32 bits))
  private val space = config.sendBufferBytes - (word.handed.value - word.acknowledged.value)
  private val chunk = (word.supply < chunkBytes) ? word.supply.resize(left.getWidth) | U(chunkBytes, left.getWidth bits)
  private val sends = word.state === TcpState.established || word.state === TcpState.closeWait
  private val idles = word.supply === 0
  private val over = word.state === TcpState.closed || idles && (word.peerFinished || word.closes)

  io.notifications.ready := False
  io.supply.ready := False
  io.command.ready := False
  io.refused.valid := False
  io.refused.request := io.notifications.addresses.request
  io.refused.reason := io.notifications.reason
  private val command = Command(config)
  command := io.command.payload
  private val order = Stream(Command(config))
  order.valid := False
  order.payload := command
  private def look(flow: UInt, next: Phase.E): Unit = {
    index := flow
    word := flows.readAsync(flow)
    phase := next
  }
  switch(phase) {
    is(sweeping) {
      index := index + 1
      when(index.andR)(phase := waiting)
    }
    is(waiting) {
      when(io.notifications.valid) {
        io.notifications.ready := True
        io.refused.valid := io.notifications.refused
        status := io.notifications.status
        when(!io.notifications.refused)(look(io.notifications.status.reference.flow, noticing))
      } elsewhen io.supply.valid {
        look(io.supply.flow, supplying)
      } elsewhen io.command.valid {
        look(io.command.flow, commanding)
      } otherwise {
        turn := turn + 1
        look(turn, looking)
      }
    }
    is(noticing) {
      word.known := True
      word.generation := status.reference.generation
      word.state := status.state
      word.reason := status.reason
      word.acknowledged := status.acknowledged
      word.peerFinished := status.peerFinished
      word.requested.value := end
      requestLength := end - word.requested.value
      when(fresh) {
        word.handed := status.written
        requestLength := end - status.consumed.value
        word.supply := 0
        word.closes := False
        word.closed := False
      }
      phase := fetching
    }
    is(fetching) {
      order.valid := requestLength =/= 0
      order.kind := CommandKind.receive
      order.flow := index
      order.length := requestLength
      when(!order.valid || order.ready)(phase := closing)
    }
    is(looking) {
      left := chunk
      when(word.known && !word.closed && sends && !idles && space >= chunk)(phase := sending).otherwise(
        phase := closing)
    }
    is(sending) {
      when(io.send.fire) {
        left := left - 8
        word.handed.value := word.handed.value + (io.send.last ? left.resize(32 bits) | U(8, 32 bits))
        word.supply := word.supply - (io.send.last ? left.resize(40 bits) | U(8, 40 bits))
        when(io.send.last)(phase := closing)
      }
    }
    is(closing) {
      order.valid := word.known && !word.closed && over
      order.kind := CommandKind.close
      order.flow := index
      when(!order.valid || order.ready) {
        when(order.valid)(word.closed := True)
        phase := storing
      }
    }
    is(supplying) {
      io.supply.ready := True
      word.supply := word.supply + io.supply.bytes
      word.closes := word.closes || io.supply.closes
      phase := storing
    }
    is(commanding) {
      order.valid := True
      io.command.ready := order.ready
      val ends = command.kind === CommandKind.close || command.kind === CommandKind.abort
      when(order.ready) {
        when(ends)(word.closed := True)
        phase := storing
      }
    }
    is(storing)(phase := waiting)
  }
  io.commands << order

  private val first = word.handed.value(7 downto 0)
  io.send.valid := phase === sending
  io.send.flow := index
  io.send.urgent := False
  io.send.last := left <= 8
  io.send.data := Vec((0 until 8).map(i => (first + i).asBits)).asBits
  io.send.keep := io.send.last ? ((U(1, 9 bits) |<< left(3 downto 0)) - 1).asBits.resize(8) | B(255, 8 bits)

  io.received.ready := True
  private val bytes = Reg(UInt(40 bits)) init 0
  private val damaged = Reg(UInt(32 bits)) init 0
  when(io.received.fire) {
    bytes := bytes + CountOne(io.received.keep)
    when(io.received.last && io.received.error)(damaged := damaged + 1)
  }
  io.receivedBytes := bytes
  io.damagedFrames := damaged
}

object TrafficApplication {
  /** Payload bytes of a frame to the core; only the last one of a supply is shorter. */
  val chunkBytes = 1024
}
