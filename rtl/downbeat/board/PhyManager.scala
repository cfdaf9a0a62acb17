// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import spinal.core._
import spinal.lib._
import spinal.lib.com.eth.Mdio

/** State of a port's PHY. `refused`: the other end offers 10 or 100 Mb/s only, with which this MAC does nothing. */
object PhyState extends SpinalEnum {
  val absent, down, refused, up = newElement()
}

/** Resets the PHYs, lets them offer 1000BASE-T full duplex and nothing else, and reads their state (IEEE 802.3
  * clauses 22 and 28, 40.5).
  *
  * The host may access any register in between.
  */
case class PhyManager(board: Board) extends Component {
  val io = new Bundle {
    val mdio = master(Mdio())
    val resetPin = out Bool () // active low
    val states = out(Vec(PhyState(), board.ports.size))
    val host = slave(Stream(MdioCommand()))
    /** To the host's accesses. */
    val response = master(Flow(Bits(16 bits)))
  }
  noIoPrefix()
  import PhyManager._

  private def access(phy: Int, register: Int, data: Option[Int]): Bits =
    Bool(data.isDefined) ## U(phy, 5 bits) ## U(register, 5 bits) ## B(data.getOrElse(0), 16 bits)
  private val setUp = for (port <- board.ports; (register, data) <- offer)
    yield access(port.phyAddress, register, Some(data))
  private val polls = for (port <- board.ports; register <- requests) yield access(port.phyAddress, register, None)
  private val accesses = Vec(setUp ++ polls)

  // Low, then left alone for as long.
  private val reset = Timeout(board.phyReset)
  private val rest = Timeout(board.phyReset * 2)
  io.resetPin := reset.state
  private val ready = RegNext(rest.state) init False

  private val bus = MdioMaster()
  io.mdio <> bus.io.mdio
  private val next = Reg(UInt(log2Up(accesses.size) bits)) init 0
  private val ofHost = Reg(Bool())
  private val own = Stream(MdioCommand())
  own.valid := ready
  own.payload.assignFromBits(accesses(next))
  bus.io.command << StreamArbiterFactory().lowerFirst.transactionLock.onArgs(io.host.haltWhen(!ready), own)
  when(bus.io.command.fire)(ofHost := io.host.fire)
  when(own.fire)(next := (next === accesses.size - 1) ? U(setUp.size, widthOf(next) bits) | next + 1)

  io.response.valid := bus.io.response.valid && ofHost
  io.response.payload := bus.io.response.payload

  private val pending = RegNextWhen(next, own.fire)
  for ((state, port) <- io.states.zipWithIndex) {
    def learnt(request: Int)(of: Bits => Bool): Bool = {
      val here = pending === setUp.size + port * requests.size + requests.indexOf(request)
      RegNextWhen(of(bus.io.response.payload), bus.io.response.valid && !ofHost && here) init False
    }
    val present = learnt(basicStatus)(!_.andR)
    val link = learnt(basicStatus)(_(2))
    val gigabit = learnt(gigabitStatus)(_(11)) // the partner can 1000BASE-T full duplex
    val slow = learnt(partnerAbility)(_(8 downto 5).orR) // 10BASE-T or 100BASE-TX
    state := PhyState.down
    when(link && gigabit)(state := PhyState.up)
    when(slow && !gigabit)(state := PhyState.refused)
    when(!present)(state := PhyState.absent)
  }
}

object PhyManager {
  private val control = 0
  private val basicStatus = 1
  private val advertisement = 4
  private val partnerAbility = 5
  private val gigabitControl = 9
  private val gigabitStatus = 10
  /** Register and value, in this order: no 10, no 100, 1000BASE-T full duplex; negotiate again. */
  val offer: Seq[(Int, Int)] = Seq(advertisement -> 0x0001, gigabitControl -> 0x0200, control -> 0x1200)
  val requests: Seq[Int] = Seq(basicStatus, gigabitStatus, partnerAbility)
}
