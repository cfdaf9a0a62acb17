// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Calculated, Calculation, Calculator}
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** A request on its way to the calculator of that index in the configuration. */
case class CalculationRequest(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val ofStartup = Bool()
  val calculator = UInt(Calculators.indexBits(config) bits)
  val operands = Bits(config.requestBits bits)
  val note = Bits(Calculation.noteBits bits)
}

/** The response on its way back. */
case class CalculatedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val calculated = Calculated()
}

/** The shared units for long calculations, beside the engine: one for each calculator of the build, with a queue before it.
  *
  * A request must find its unit's `space`, which is told with enough to spare for those that a pipeline brings before it sees that there is
  * none; so neither the engine nor a unit ever waits. Answers of one unit keep their order.
  */
case class Calculators(config: DownbeatConfig) extends Component {
  import Calculators._
  val io = new Bundle {
    val request = slave(Flow(CalculationRequest(config)))
    val space = out(Bits(config.calculators.size bits))
    val result = master(Stream(CalculatedEvent(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val lanes = config.calculators.zipWithIndex.map { case (calculator, index) => new Lane(calculator, index) }
  // Registered both ways: the engine's choice is not in line with that among the lanes. No lane has an response so often that the others would
  // wait for long.
  io.result << StreamArbiterFactory().lowerFirst.transactionLock.on(lanes.map(_.result)).halfPipe()
  for ((lane, index) <- lanes.zipWithIndex) io.space(index) := lane.space
  io.idle := !io.request.valid && !io.result.valid && lanes.map(_.idle).andR

  /** A unit with its queues. Whose request it is waits beside the unit for the response. */
  private class Lane(calculator: Calculator, index: Int) extends Area {
    private val unit = calculator.build(config)
    private val requests = StreamFifo(CalculationRequest(config), waiting, latency = 1)
    requests.io.push.valid := io.request.valid && io.request.calculator === index
    requests.io.push.payload := io.request.payload
    val space = RegNext(requests.io.availability > spare) init False

    private val first = requests.io.pop.halfPipe()
    private val (asked, remembered) = StreamFork2(first, synchronous = true)
    unit.io.request.arbitrationFrom(asked)
    unit.io.request.flow := asked.reference.flow
    unit.io.request.operands := asked.operands.resize(calculator.requestBits)

    /** As many words as may be under way. The first is in a register: the choice among the lanes is not in line with a memory. */
    private class Queue[T <: Data](words: Stream[T]) extends Area {
      private val depth = calculator.underWay(config)
      private val others = (depth > 1) generate StreamFifo(words.payloadType, depth)
      if (depth > 1) {
        others.logic.ram.addAttribute("no_rw_check") // it never reads the place that it writes
        others.io.push << words
      }
      val first: Stream[T] = (if (depth > 1) others.io.pop else words).halfPipe()
      val empty: Bool = !first.valid && (if (depth > 1) !others.io.occupancy.orR else True)
    }
    private val owners = new Queue(remembered)
    private val responses = new Queue(unit.io.response.toStream)
    val result: Stream[CalculatedEvent] = StreamJoin(owners.first, responses.first).map { joined =>
      val event = CalculatedEvent(config)
      event.reference := joined._1.reference
      event.calculated.ofStartup := joined._1.ofStartup
      event.calculated.stale := False
      event.calculated.response := joined._2.resize(Calculation.responseBits)
      event.calculated.note := joined._1.note
      event
    }
    val idle: Bool = !requests.io.occupancy.orR && !first.valid && owners.empty
  }
}

object Calculators {
  def indexBits(config: DownbeatConfig): Int = log2Up(config.calculators.size) max 1
  /** Requests before a unit, and how many may still come when there seems to be no space. */
  private val waiting = 16
  private val spare = 8
}
