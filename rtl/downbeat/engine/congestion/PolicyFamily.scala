// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.congestion

import downbeat.config.DownbeatConfig
import downbeat.congestion._
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** The start-up or the steady policies of a build. All answer every event by step 3; the result of the connection's
  * policy is taken.
  *
  * @param pipe  its policy state has the width of the largest
  * @param index the number of the connection's policy, on step 2
  * @param kept  policy states that count in place of the policy's, each with its condition on step 2: one at most holds
  */
class PolicyFamily(
    config: DownbeatConfig, set: PolicySet[Policy], pipe: PolicyPipe, index: Payload[UInt],
    kept: Seq[(Payload[Bool], Payload[Bits])])
    extends Area {
  import pipe.{s0, s2, s3}
  import set.{numbers, present => policies}
  private val stateBits = CongestionState.policyStateBits(policies)

  private val states = new s0.Area {
    val own = policies.map(policy => insert(pipe.policyState.resize(policy.stateBits)))
  }
  val results: Seq[Payload[PolicyResult]] = policies.zip(states.own).map { case (policy, state) =>
    policy.build(pipe.withState(state).setCompositeName(this, policy.name))
  }

  private val select = new s2.Area {
    val own = numbers.zipWithIndex.map { case (number, place) =>
      insert(numbers.lift(place + 1) match {
        case Some(next) if next == number + 1 => index === number
        case Some(next) => index >= number && index < next
        case None => index >= number
      })
    }
    private val replaced = kept.map { case (holds, _) => apply(holds) }.orR
    val ofState = own.map(select => insert(select && !replaced))
  }
  /** For each policy whether it is the connection's. One always is: an absent number selects the one before it. */
  def selects: Seq[Payload[Bool]] = select.own

  private val choose = new s3.Area {
    private val all = policies.zip(results).map { case (policy, result) => widened(policy, result) }
    val result = if (all.size == 1) all.head else MuxOH.or(Vec(selects.map(apply(_))), all)
    val state = MuxOH.or(Vec((select.ofState ++ kept.map(_._1)).map(apply(_))),
      results.map(_.policyState.resize(stateBits)) ++ kept.map { case (_, state) => apply(state) })
    val calculator = config.policiesCalculate generate {
      val indices = CalculationControl.indices(config, policies)
      if (indices.size == 1) indices.head else MuxOH.or(Vec(selects.map(apply(_))), indices)
    }
  }
  /** The result of the connection's policy, on step 3. */
  val result: PolicyResult = choose.result
  /** The policy state after the event, on step 3. */
  val state: Bits = choose.state
  /** Its calculator, by index, on step 3. */
  val calculator: UInt = choose.calculator

  /** A result with all fields that a result of this build may have, but for the policy state. */
  private def widened(policy: Policy, result: PolicyResult): PolicyResult = {
    val wide = PolicyResult(0, config.policiesPace, config.requestBits, config.policiesBound)
    wide.window := result.window
    if (config.policiesPace) wide.departure := (if (policy.paces) result.departure else DeparturePlan.configured)
    if (config.policiesBound) {
      wide.bounded := (if (policy.bounds) result.bounded else False)
      wide.bound := (if (policy.bounds) result.bound else U(0, 32 bits))
      wide.retreats := (if (policy.bounds) result.retreats else False)
    }
    if (config.policiesCalculate) wide.calculation := (
      if (policy.calculator.isEmpty) Calculation.none(config.requestBits)
      else result.calculation.widened(config.requestBits))
    wide
  }
}
