// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.lib.WideMemory
import downbeat.messages.FlowStatus
import spinal.core._
import spinal.lib._

/** The newest status of each flow, and the line of flows whose newest one has not been taken. Each stands in it once at
  * the most, so that it never overflows and `status` never waits.
  *
  * A flow is in line while two bits differ, one turned over when it joins and one when it leaves: each has one writer. It
  * leaves a clock before its status is read, so a status that comes meanwhile either is the one that is read or puts the
  * flow in line again. A status that is written in the clock in which it is read makes it read again; since those of one
  * flow are at least eight clocks apart, once is enough.
  */
case class StatusQueue(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val status = slave(Flow(FlowStatus(config)))
    /** The next flow is wanted; answered, when there is one, by `leaving` and three clocks later by `newest`. */
    val take = in(Bool())
    val leaving = master(Flow(UInt(config.flowBits bits)))
    val newest = master(Flow(FlowStatus(config)))
    val sweeping = out(Bool())
    val empty = out(Bool())
  }
  noIoPrefix()

  private val statuses = WideMemory(Mem(FlowStatus(config), config.flows))
  private val joined, left = Mem(Bool(), config.flows).addAttribute("no_rw_check")
  private case class Place() extends Bundle {
    val flow = UInt(config.flowBits bits)
    val turn = Bool() // what `left` becomes when it leaves
  }
  private val line = StreamFifo(Place(), config.flows)

  // No connection can be there before the flow directory has swept its own memories, which takes as long.
  private val sweep = Reg(UInt(config.flowBits + 1 bits)) init 0
  io.sweeping := !sweep.msb
  when(io.sweeping)(sweep := sweep + 1)

  private val arrival = new Area {
    val status = io.status.m2sPipe()
    val flow = status.reference.flow
    statuses.write(flow, status.payload, status.valid)
    val joinedBit = joined.readSync(flow, status.valid)
    val leftBit = left.readSync(flow, status.valid)
  }

  private val joining = new Area {
    val valid = RegNext(arrival.status.valid) init False
    val flow = RegNextWhen(arrival.flow, arrival.status.valid)
    val turn = !arrival.leftBit
    line.io.push.valid := valid && arrival.joinedBit === arrival.leftBit
    line.io.push.flow := flow
    line.io.push.turn := turn
    joined.write(
      io.sweeping ? sweep.resize(config.flowBits) | flow,
      !io.sweeping && turn,
      io.sweeping || line.io.push.valid)
  }

  private val leaving = new Area {
    val take = line.io.pop.valid && io.take
    line.io.pop.ready := io.take
    left.write(
      io.sweeping ? sweep.resize(config.flowBits) | line.io.pop.flow,
      !io.sweeping && line.io.pop.turn,
      io.sweeping || take)
    io.leaving.valid := take
    io.leaving.payload := line.io.pop.flow

    val flow = RegNextWhen(line.io.pop.flow, take)
    val collides = arrival.status.valid && arrival.flow === flow
    val reading = RegInit(False)
    when(reading && !collides)(reading := False)
    when(take)(reading := True)
    val read = statuses.readSync(flow, reading)
    val arrived = RegNext(reading && !collides) init False
    io.newest.valid := RegNext(arrived) init False
    io.newest.payload := RegNextWhen(read, arrived)
  }

  io.empty := !arrival.status.valid && !joining.valid && line.io.occupancy === 0 && !leaving.reading &&
    !leaving.arrived && !io.newest.valid
}
