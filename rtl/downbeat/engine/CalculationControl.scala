// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.calculation.{CalculationRequest, Calculators}
import downbeat.config.DownbeatConfig
import downbeat.congestion.{Calculated, Calculation, CongestionEvent, CongestionEventKind, Policy}
import downbeat.messages.{EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A connection's long calculation. */
case class CalculationState() extends Bundle {
  val underWay = Bool()
  /** Something was lost since it was asked for. */
  val stale = Bool()
  /** Its policy has been changed: the answer is nobody's. */
  val dropped = Bool()
}

/** Which calculation a connection has under way: one at most, and what a loss does to it.
  *
  * An answer that was asked for before a loss or a timeout comes as `stale`: what it was calculated from is not so any more, and its windows
  * do not count.
  */
class CalculationControl(
    config: DownbeatConfig, signals: Signals, before: Payload[CalculationState], event: Payload[CongestionEvent], changes: Payload[Bool],
    steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, s1, s2, s3, s4, s5) = steps
  private val kinds = CongestionEventKind

  /** On step 0: this event is an answer; and somebody's. */
  val answers: Payload[Bool] = s0.insert(s0(LIVE) && s0(KIND) === EventKind.calculated)
  val tells: Payload[Bool] = s0.insert(s0(answers) && !s0(before).dropped)
  val calculated: Payload[Calculated] = s0.insert {
    val calculated = CombInit(s0(CALCULATED)).allowOverride()
    calculated.stale := s0(before).stale
    calculated
  }
  val underWay: Payload[Bool] = s0.insert(s0(before).underWay)

  /** What policies ask, given on step 3 with the index of their calculator, those of either kind in one. */
  def ask(startup: (Calculation, UInt), steady: (Calculation, UInt)): Unit = {
    s3(asksStartup) := startup._1.valid
    s3(asked) := startup._1.valid ? startup._1 | steady._1
    s3(calculator) := startup._1.valid ? startup._2 | steady._2
  }
  private val asksStartup = Payload(Bool())
  private val asked = Payload(Calculation(config.requestBits))
  private val calculator = Payload(UInt(Calculators.indexBits(config) bits))

  /** The units that have space, as the engine's neighbour tells. */
  val space = Bits(config.calculators.size bits)
  private val may = s4.insert(
    s4(asked).valid && s4(LIVE) && !s4(underWay) && !s4(answers) &&
      s4(STATE) =/= TcpState.synSent && s4(STATE) =/= TcpState.synReceived && s4(STATE) =/= TcpState.closed)

  /** On step 5: the request goes. */
  val goes: Bool = s5.isValid && s5(may) && space.resize(1 << Calculators.indexBits(config))(s5(calculator))
  val request = Flow(CalculationRequest(config))
  request.valid := RegNext(goes) init False
  request.payload := RegNext {
    val request = CalculationRequest(config)
    request.reference.flow := s5(FLOW)
    request.reference.generation := s5(CONNECTION)
    request.ofStartup := s5(asksStartup)
    request.calculator := s5(calculator)
    request.operands := s5(asked).operands
    request.note := s5(asked).note
    request
  }

  private val loses = s4.insert(
    s4(event).kind === kinds.loss || s4(event).kind === kinds.timeout || s4(event).kind === kinds.timeoutAgain)
  /** On step 5. */
  val after = CalculationState()
  private val continues = s5(underWay) && !s5(answers) && !s5(OPENING)
  after.underWay := continues || goes
  after.stale := continues && (s5(before).stale || s5(loses))
  after.dropped := continues && (s5(before).dropped || s5(changes))
}

object CalculationControl {
  /** The index of each policy's calculator; zero for one that has none. */
  def indices(config: DownbeatConfig, policies: Seq[Policy]): Seq[UInt] =
    policies.map(policy => U(policy.calculator.fold(0)(config.calculators.indexOf(_)), Calculators.indexBits(config) bits))
}
