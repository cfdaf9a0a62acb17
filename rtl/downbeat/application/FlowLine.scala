// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.{ProtectedQueue, StateMemory}
import spinal.core._
import spinal.lib._

/** A queue of flows in which each stands once at most, so that it never overflows.
  *
  * A flow is in the queue while two bits differ: one toggles when it joins, one when it leaves, so each bit has one
  * writer. A flow that joins while it is in the queue changes nothing.
  */
case class FlowLine(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** Those of one flow at least three clocks apart; none while sweeping. */
    val joins = slave(Flow(UInt(config.flowBits bits)))
    /** A flow that has joined is shown two clocks later. */
    val flows = master(Stream(UInt(config.flowBits bits)))
    val sweeping = out(Bool())
    val empty = out(Bool())
  }
  noIoPrefix()

  private val joined, left = StateMemory(config.ecc, Bool(), config.flows).addAttribute("no_rw_check")
  private case class Place() extends Bundle {
    val flow = UInt(config.flowBits bits)
    val turn = Bool() // the value of `left` when the flow leaves
  }
  private val line = ProtectedQueue(config.ecc, Place(), config.flows)

  private val sweep = Reg(UInt(config.flowBits + 1 bits)) init 0
  io.sweeping := !sweep.msb
  when(io.sweeping)(sweep := sweep + 1)

  private val joining = new Area {
    private val joinedBit = joined.readSync(io.joins.payload, io.joins.valid)
    private val leftBit = left.readSync(io.joins.payload, io.joins.valid)
    val valid = RegNext(io.joins.valid) init False
    private val flow = RegNextWhen(io.joins.payload, io.joins.valid)
    private val turn = !leftBit
    line.push.valid := valid && joinedBit === leftBit
    line.push.flow := flow
    line.push.turn := turn
    joined.write(
      io.sweeping ? sweep.resize(config.flowBits) | flow,
      !io.sweeping && turn,
      io.sweeping || line.push.valid)
  }

  io.flows << line.pop.map(_.flow)
  left.write(
    io.sweeping ? sweep.resize(config.flowBits) | line.pop.flow,
    !io.sweeping && line.pop.turn,
    io.sweeping || line.pop.fire)

  io.empty := !joining.valid && line.occupancy === 0
}
