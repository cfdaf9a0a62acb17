// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.config.DownbeatConfig
import downbeat.lib.Tally
import downbeat.messages.{DeliveryRequest, FlowPosition, Transfer}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Turns each request into a transfer from the flow's `consumed` on, of at most the bytes that have been received. It
  * takes six clocks for a request.
  */
case class DeliveryAdmission(config: DownbeatConfig) extends Component {
  /** Up to a whole buffer at once. */
  val lengthBits: Int = log2Up(config.receiveBufferBytes + 1)
  val io = new Bundle {
    val requests = slave(Stream(DeliveryRequest(config)))
    val opened, received = slave(Flow(FlowPosition(config)))
    val transfers = master(Stream(Transfer(config, lengthBits)))
    /** Requests for more than was stored, since reset. */
    val underruns = out(UInt(config.counterBits bits))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val consumed, received = FlowPointers(config)
  for (pointers <- Seq(consumed, received)) {
    pointers.io.opened << io.opened
    pointers.io.request.payload := io.requests.flow
  }
  received.io.updates << FlowPointers.patient(io.received)

  private val transfer = Reg(Transfer(config, lengthBits))
  private val requested = Reg(UInt(32 bits))
  // Signed: nothing goes wrong if `received` still lies before the first byte.
  private val available = Reg(SInt(lengthBits + 1 bits))
  private val short = Reg(Bool())
  private val underrun = False
  io.underruns := Tally(underrun, config.counterBits)

  private val requesting = False
  private val placed = Stream(NoData())
  placed.valid := False
  for (pointers <- Seq(consumed, received)) pointers.io.request.valid := requesting
  io.requests.ready := False

  private val fsm = new StateMachine {
    val waiting: State = new State with EntryPoint {
      whenIsActive {
        requesting := io.requests.valid
        when(io.requests.valid)(goto(responding))
      }
    }
    val responding: State = new State {
      whenIsActive {
        transfer.flow := io.requests.flow
        transfer.sequence := consumed.io.response
        requested := io.requests.length
        available := received.io.response.since(consumed.io.response).asSInt.resized
        io.requests.ready := True
        goto(deciding)
      }
    }
    val deciding: State = new State {
      whenIsActive {
        short := available < requested.intoSInt
        goto(choosing)
      }
    }
    val choosing: State = new State {
      whenIsActive {
        transfer.length := short ? available.asUInt.resize(lengthBits) | requested.resize(lengthBits)
        when(available.msb)(transfer.length := 0)
        underrun := short
        goto(checking)
      }
    }
    val checking: State = new State {
      whenIsActive {
        when(transfer.length === 0)(goto(waiting)).otherwise(goto(leaving))
      }
    }
    val leaving: State = new State {
      whenIsActive {
        placed.valid := True
        when(placed.fire)(goto(waiting))
      }
    }
  }

  private val (moving, advancing) = StreamFork2(placed)
  io.transfers << moving.translateWith(transfer)

  private val advanced = FlowPosition(config)
  advanced.flow := transfer.flow
  advanced.sequence := transfer.sequence + transfer.length
  consumed.io.updates << advancing.translateWith(advanced)

  io.idle := fsm.isActive(fsm.waiting) && !received.io.updates.valid
}
