// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.calculation.{CalculationRequest, Calculators}
import downbeat.config.DownbeatConfig
import downbeat.congestion.{Calculated, Calculation, CongestionEvent, CongestionEventKind, Policy}
import downbeat.engine.pipeline.Signals
import downbeat.messages.{EventKind, TcpState}
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** A connection's long calculation. */
case class CalculationState() extends Bundle {
  val underWay = Bool()
  /** Something was lost since the request. */
  val stale = Bool()
  /** The policy that made the request has been changed: the response is discarded. */
  val dropped = Bool()
}

/** Controls long calculations: one at most is under way for a connection.
  *
  * The response to a request from before a loss or a timeout is `stale`: its operands no longer hold, so its windows do
  * not count, but for those of a policy that `modelsPath`.
  */
class CalculationControl(
    config: DownbeatConfig, signals: Signals, before: Payload[CalculationState], event: Payload[CongestionEvent],
    changes: Payload[Bool],
    steps: Seq[Node])
    extends Area {
  import signals._
  private val Seq(s0, _, _, s3, s4, s5) = steps

  private val receive = new s0.Area {
    val arrives = insert(LIVE && KIND === EventKind.calculated)
    val responds = insert(arrives && !before.dropped)
    val calculated = insert {
      val calculated = CombInit[Calculated](CALCULATED).allowOverride()
      calculated.stale := before.stale
      calculated
    }
    val underWay = insert(before.underWay)
  }
  /** From step 0 on: the event is a response, and its policy is still the connection's. */
  val responds: Payload[Bool] = receive.responds
  /** The response. */
  val calculated: Payload[Calculated] = receive.calculated
  val underWay: Payload[Bool] = receive.underWay

  private val ofStartup = Payload(Bool())
  private val requested = Payload(Calculation(config.requestBits))
  private val calculator = Payload(UInt(Calculators.indexBits(config) bits))

  /** Takes the request of either family's policy on step 3, the start-up policy's first. */
  def choose(startup: PolicyFamily, steady: PolicyFamily): Unit = new s3.Area {
    private val first = startup.result.calculation
    ofStartup := first.valid
    requested := first.valid ? first | steady.result.calculation
    calculator := first.valid ? startup.calculator | steady.calculator
  }

  private val check = new s4.Area {
    val may = insert(
      requested.valid && LIVE && !underWay && !receive.arrives &&
        STATE =/= TcpState.synSent && STATE =/= TcpState.synReceived && STATE =/= TcpState.closed)
    val loses = insert(
      event.kind === CongestionEventKind.loss || event.kind === CongestionEventKind.timeout ||
        event.kind === CongestionEventKind.timeoutAgain)
  }

  /** There is space for a request. */
  val space = Bool()

  private val issue = new s5.Area {
    val goes = isValid && check.may && space
    val request = CalculationRequest(config)
    request.reference.flow := FLOW
    request.reference.generation := CONNECTION
    request.ofStartup := ofStartup
    request.calculator := calculator
    request.operands := requested.operands
    request.note := requested.note

    private val continues = underWay && !receive.arrives && !OPENING
    val after = CalculationState()
    after.underWay := continues || goes
    after.stale := continues && (before.stale || check.loses)
    after.dropped := continues && (before.dropped || changes)
  }
  /** On step 5: the request goes. */
  val goes: Bool = issue.goes
  /** On step 5. */
  val after: CalculationState = issue.after

  /** A clock later, to the units. */
  val request = Flow(CalculationRequest(config))
  request.valid := RegNext(issue.goes) init False
  request.payload := RegNext(issue.request)
}

object CalculationControl {
  /** The index of each policy's calculator; zero for a policy without one. */
  def indices(config: DownbeatConfig, policies: Seq[Policy]): Seq[UInt] =
    policies.map(policy =>
      U(policy.calculator.fold(0)(config.calculators.indexOf(_)), Calculators.indexBits(config) bits))
}
