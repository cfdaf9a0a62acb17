// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.Mdio

/** An access to a PHY's register. */
case class MdioCommand() extends Bundle {
  val data = Bits(16 bits) // for a write
  val register = UInt(5 bits)
  val phy = UInt(5 bits)
  val write = Bool()
}

/** Clause 22 management frames (IEEE 802.3 22.2.4.5), one at a time, MDC at 2 MHz at the most. */
case class MdioMaster() extends Component {
  val io = new Bundle {
    val command = slave(Stream(MdioCommand()))
    /** The access is over; what was read, all ones where no PHY answers. */
    val response = master(Flow(Bits(16 bits)))
    val mdio = master(Mdio())
  }
  noIoPrefix()

  private val halfPeriod =
    (ClockDomain.current.frequency.getValue / (4 MHz)).setScale(0, BigDecimal.RoundingMode.CEILING).toInt max 2
  private val tick = CounterFreeRun(halfPeriod).willOverflow
  private val busy = RegInit(False)
  private val clock = RegInit(False)
  private val bits = Reg(Bits(64 bits)) // the next one is the highest
  private val left = Reg(UInt(7 bits))
  private val reads = Reg(Bool())
  private val taken = Reg(Bits(16 bits))
  private val pin = BufferCC(io.mdio.IO.read, True)

  io.command.ready := !busy
  busy setWhen io.command.fire
  // Kept on the way: who commands may be far from the pins.
  private val command = RegNextWhen(io.command.payload, io.command.fire)
  when(RegNext(io.command.fire) init False) {
    bits := B(32 bits,
      default -> true) ## B"01" ## (command.write ? B"01" | B"10") ## command.phy ## command.register ## B"10" ## command.data
    left := 64
    reads := !command.write
  }

  io.response.valid := False
  io.response.payload := taken
  when(busy && tick) {
    clock := !clock
    when(!clock)(taken := taken(14 downto 0) ## pin) // a PHY answers behind the rising edge before
    when(clock) {
      bits := bits |<< 1
      left := left - 1
      when(left === 1) {
        busy := False
        io.response.valid := True
      }
    }
  }

  io.mdio.C := clock
  io.mdio.IO.write := bits.msb
  io.mdio.IO.writeEnable := busy && !(reads && left <= MdioMaster.responseBits)
}

object MdioMaster {
  /** Bits of a read from the turn-around on. */
  val responseBits = 18
}
