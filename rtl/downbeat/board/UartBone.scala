// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4Config}
import spinal.lib.com.uart._
import spinal.lib.fsm._

/** Registers over a UART, as LiteX's uartbone has it (litex/soc/cores/uart.py), so that `litex_server --uart` and its
  * clients work.
  *
  * A request is command, number of words, address of a word (bytes / 4; four bytes, the highest first), and the words
  * of a write (likewise). Commands: 1 write, 2 read, each to the words from the address on; 3 write, 4 read, all to
  * that one address. The response to a read is its words. A request that stops for 100 ms is forgotten.
  *
  * Each region has 4 KiB; what lies beyond them, or is refused, reads as zero.
  */
case class UartBone(baud: Int, bus: AxiLite4Config, regions: Int) extends Component {
  val io = new Bundle {
    val uart = master(Uart())
    val regions = Vec(master(AxiLite4(bus)), UartBone.this.regions)
  }
  noIoPrefix()

  private val uart =
    UartCtrl(UartCtrlInitConfig(baudrate = baud, dataLength = 7, parity = UartParityType.NONE, stop = UartStopType.ONE))
  io.uart <> uart.io.uart
  private val received = uart.io.read.queue(16)
  private val sent = Stream(Bits(8 bits))
  uart.io.write << sent.m2sPipe()
  received.ready := False
  sent.valid := False

  private val command = Reg(Bits(8 bits))
  private val words = Reg(UInt(8 bits))
  private val address = Reg(UInt(32 bits)) // in words
  private val data = Reg(Bits(32 bits))
  private val byte = Reg(UInt(2 bits)) init 0
  private val writes = command === 1 || command === 3
  private val reads = command === 2 || command === 4
  private val sequential = command === 1 || command === 2
  sent.payload := data(31 downto 24)

  private val wordBits = bus.addressWidth - 2
  private val region = address >> wordBits
  private val requesting, responding = False
  private val response = Bool()
  private val read = Bits(32 bits)
  response := responding // nobody there
  read := 0
  private val accepted = Bool()
  accepted := True
  for ((port, i) <- io.regions.zipWithIndex) {
    val chosen = region === i
    port.aw.valid := requesting && chosen && writes
    port.w.valid := requesting && chosen && writes
    port.ar.valid := requesting && chosen && !writes
    for (channel <- Seq(port.aw, port.ar)) {
      channel.addr := address.resize(wordBits bits) @@ U(0, 2 bits)
      channel.prot := 0
    }
    port.w.data := data
    port.w.strb.setAll()
    port.b.ready := responding
    port.r.ready := responding
    when(chosen) {
      accepted := writes ? (port.aw.ready && port.w.ready) | port.ar.ready
      response := writes ? port.b.valid | port.r.valid
      read := (port.r.resp === 0) ? port.r.data | B(0, 32 bits)
    }
  }

  private def take(next: => Unit): Unit = {
    received.ready := True
    when(received.valid)(next)
  }
  private val fsm = new StateMachine {
    private val silence = Timeout(100 ms)
    val waiting: State = new State with EntryPoint {
      whenIsActive {
        silence.clear()
        byte := 0
        take { command := received.payload; goto(counting) }
      }
    }
    val counting: State = new State {
      whenIsActive(take { words := received.payload.asUInt; goto(addressing) })
    }
    val addressing: State = new State {
      whenIsActive(take {
        address := (address(23 downto 0) ## received.payload).asUInt
        byte := byte + 1
        when(byte.andR) {
          goto(waiting)
          when(words =/= 0 && writes)(goto(receiving))
          when(words =/= 0 && reads)(goto(accessing))
        }
      })
    }
    val receiving: State = new State {
      whenIsActive(take {
        data := data(23 downto 0) ## received.payload
        byte := byte + 1
        when(byte.andR)(goto(accessing))
      })
    }
    val accessing: State = new State {
      whenIsActive {
        requesting := True
        when(accepted)(goto(ending))
      }
    }
    val ending: State = new State {
      whenIsActive {
        responding := True
        when(response) {
          data := read
          when(reads)(goto(sending)) otherwise advance(receiving)
        }
      }
    }
    val sending: State = new State {
      whenIsActive {
        silence.clear() // the UART's own pace
        sent.valid := True
        when(sent.ready) {
          data := data |<< 8
          byte := byte + 1
          when(byte.andR)(advance(accessing))
        }
      }
    }
    private def advance(next: State): Unit = {
      words := words - 1
      when(sequential)(address := address + 1)
      when(words === 1)(goto(waiting)) otherwise goto(next)
    }
    always(when(silence)(goto(waiting)))
  }
}
