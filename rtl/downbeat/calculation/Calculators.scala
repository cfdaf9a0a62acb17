// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Calculated, Calculation, Calculator}
import downbeat.messages.FlowReference
import spinal.core._
import spinal.lib._

/** A request on its way to the calculator of an index in the configuration. */
case class CalculationRequest(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val ofStartup = Bool()
  val calculator = UInt(Calculators.indexBits(config) bits)
  val operands = Bits(config.requestBits bits)
  val note = Bits(Calculation.noteBits bits)
}

/** The response on its way to the engine. */
case class CalculatedEvent(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val calculated = Calculated()
}

/** The shared units for long calculations: one for each calculator of the build, one for all that are programs, and
  * one queue before them all. Its words are wide: a queue for each unit would take more than a small unit does. Units
  * work side by side; a request waits for those before it to be taken.
  *
  * The engine makes a request only if there is `space`. It is false early enough for the requests that the pipeline
  * still brings, so neither the engine nor a unit waits. Responses of one unit keep their order.
  */
case class Calculators(config: DownbeatConfig) extends Component {
  import Calculators._
  val io = new Bundle {
    val request = slave(Flow(CalculationRequest(config)))
    val space = out(Bool())
    val result = master(Stream(CalculatedEvent(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val requests = StreamFifo(CalculationRequest(config), waiting, latency = 1)
  requests.io.push.valid := io.request.valid
  requests.io.push.payload := io.request.payload
  io.space := RegNext(requests.io.availability > spare) init False

  private val head = requests.io.pop.halfPipe()
  private val programmed = config.calculators.collect { case calculator: ProgrammedCalculator => calculator }
  private val alone = config.calculators.size - programmed.size
  private val units = config.calculators.take(alone) ++ Option.when(programmed.nonEmpty)(Programs(programmed))
  private val unit = (head.calculator < alone) ? head.calculator | U(alone, widthOf(head.calculator) bits)
  private val lanes =
    units.zip(if (units.size > 1) StreamDemux(head, unit.resize(log2Up(units.size)), units.size) else Seq(head)).map {
      case (calculator, taken) => new Lane(calculator, taken)
    }
  // Registered both ways: the engine's arbiter and the arbiter of the lanes are not in one path. Responses are rare, so
  // no lane waits long.
  io.result << StreamArbiterFactory().lowerFirst.transactionLock.on(lanes.map(_.result)).halfPipe()
  io.idle := !io.request.valid && !requests.io.occupancy.orR && !head.valid && !io.result.valid && lanes.map(
    _.idle).andR

  /** A unit. The connection of a request waits beside it for the response. */
  private class Lane(calculator: Calculator, requests: Stream[CalculationRequest]) extends Area {
    private val unit = calculator.build(config)
    private val (issued, remembered) = StreamFork2(requests, synchronous = true)
    unit.io.request.arbitrationFrom(issued)
    unit.io.request.flow := issued.reference.flow
    private val index = calculator match {
      case programs: Programs => (issued.calculator - alone).resize(programs.indexBits).asBits
      case _ => B(0, 0 bits)
    }
    unit.io.request.operands := index ## issued.operands.takeHigh(calculator.requestBits - widthOf(index))

    /** A queue for all calculations under way. Its head is in a register, so that the arbiter of the lanes does not
      * follow a memory.
      */
    private class Queue[T <: Data](words: Stream[T]) extends Area {
      private val depth = calculator.underWay(config)
      private val others = (depth > 1) generate StreamFifo(words.payloadType, depth)
      if (depth > 1) {
        others.logic.ram.addAttribute("no_rw_check") // it never reads the place that it writes
        others.io.push << words
      }
      val head: Stream[T] = (if (depth > 1) others.io.pop else words).halfPipe()
      val empty: Bool = !head.valid && (if (depth > 1) !others.io.occupancy.orR else True)
    }
    private val owners = new Queue(remembered)
    private val responses = new Queue(unit.io.response.toStream)
    val result: Stream[CalculatedEvent] = StreamJoin(owners.head, responses.head).map { joined =>
      val event = CalculatedEvent(config)
      event.reference := joined._1.reference
      event.calculated.ofStartup := joined._1.ofStartup
      event.calculated.stale := False
      event.calculated.response := joined._2.resize(Calculation.responseBits)
      event.calculated.note := joined._1.note
      event
    }
    val idle: Bool = owners.empty
  }
}

object Calculators {
  def indexBits(config: DownbeatConfig): Int = log2Up(config.calculators.size) max 1
  /** Requests in the queue before the units. */
  private val waiting = 16
  /** Requests that may still come when the queue seems to have no space. */
  private val spare = 8
}
