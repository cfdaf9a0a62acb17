// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._
import spinal.lib.fsm._

/** Passes one access at a time to the registers and holds its response until it is taken; reads and writes take turns.
  *
  * RegIf's own AXI4-Lite slave needs that: during a read it ignores a write's strobes, and a waiting response follows
  * the register, or the address of the next read. An access to an address without a register is refused here.
  */
case class RegisterPort(config: AxiLite4Config) extends Component {
  val io = new Bundle {
    val bus = slave(AxiLite4(config))
    val registers = master(AxiLite4(config))
    /** Byte address of the access, a multiple of four. */
    val address = out(UInt(config.addressWidth bits))
    /** A write has all of its bytes. */
    val whole = out(Bool())
    /** There is something to read at `address`; to write. Otherwise the response is SLVERR, and zero. */
    val readable, writable = in(Bool())
    /** No access begins. */
    val hold = in(Bool())
    /** The value at `address` is up to date from the next clock on: until then the access waits. */
    val settled = in(Bool()) default True
  }
  noIoPrefix()

  private val reads = io.bus.ar.halfPipe()
  private val writes = StreamJoin(io.bus.aw.halfPipe(), io.bus.w.halfPipe())
  // Readies by default; the machine says when.
  reads.ready := False
  writes.ready := False

  private val isWrite = RegInit(False)
  private val address = Reg(UInt(config.addressWidth bits))
  private val written = Reg(AxiLite4W(config))
  private val refused = Reg(Bool())
  private val data = Reg(Bits(config.dataWidth bits))
  io.address := address
  io.whole := written.strb.andR

  private val requesting, responding = False
  private val fsm = new StateMachine {
    val waiting: State = new State with EntryPoint {
      whenIsActive {
        val takesWrite = writes.valid && !(reads.valid && isWrite)
        when(!io.hold && (writes.valid || reads.valid)) {
          writes.ready := takesWrite
          reads.ready := !takesWrite
          isWrite := takesWrite
          address := (takesWrite ? writes._1.addr | reads.addr)(config.addressWidth - 1 downto 2) @@ U(0, 2 bits)
          written := writes._2
          goto(judging)
        }
      }
    }
    val judging: State = new State {
      whenIsActive {
        val allowed = isWrite ? io.writable | io.readable
        refused := !allowed
        data := 0
        when(io.settled)(when(allowed)(goto(requested)).otherwise(goto(responded)))
      }
    }
    val requested: State = new State {
      whenIsActive {
        requesting := True
        when(isWrite ? io.registers.aw.ready | io.registers.ar.ready)(
          goto(awaiting)) // ready for `aw`, ready for `w`: nothing is inside
      }
    }
    val awaiting: State = new State {
      whenIsActive {
        when(io.registers.r.valid)(data := io.registers.r.data)
        when(io.registers.r.valid || io.registers.b.valid)(goto(responded))
      }
    }
    val responded: State = new State {
      whenIsActive {
        responding := True
        when(isWrite ? io.bus.b.ready | io.bus.r.ready)(goto(waiting))
      }
    }
  }

  io.registers.ar.valid := requesting && !isWrite
  io.registers.aw.valid := requesting && isWrite
  io.registers.w.valid := requesting && isWrite
  for (command <- Seq(io.registers.ar, io.registers.aw)) {
    command.addr := address
    command.prot := 0
  }
  io.registers.w.payload := written
  io.registers.r.ready := True
  io.registers.b.ready := True

  io.bus.r.valid := responding && !isWrite
  io.bus.r.data := data
  io.bus.b.valid := responding && isWrite
  for (response <- Seq(io.bus.r.resp, io.bus.b.resp)) response := refused ? AxiLite4.resp.SLVERR | AxiLite4.resp.OKAY
}
