// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Policy, PolicySet}
import downbeat.messages.{CloseReason, ConnectionParameters}
import spinal.core._
import spinal.lib._

/** Checks that the policies of a command exist and take its arguments. The result is valid `PolicyCheck.clocks` after
  * the parameters have come.
  */
class PolicyCheck(config: DownbeatConfig, parameters: ConnectionParameters) extends Area {
  private class Family(policies: PolicySet[Policy], number: UInt, argument: Bits) extends Area {
    /** For each policy: it takes this argument. */
    private val takes = policies.present.map { policy =>
      val conditions = policy.arguments.conditions(argument).map(RegNext(_))
      val nothing = if (policy.arguments.needed) False else RegNext(!argument.orR)
      nothing || conditions.fold(True)(_ && _)
    }
    val exists = RegNext(RegNext(policies.has(number)))
    private val byNumber = policies.numbers.zip(takes).toMap.withDefaultValue(False)
    val fits = RegNext(Vec((0 until 1 << policies.bits).map(byNumber))(number))
  }
  private val startup = new Family(config.startup, parameters.startup, parameters.startupArgument)
  private val steady = new Family(config.steady, parameters.steady, parameters.steadyArgument)

  val legal: Bool = startup.fits && steady.fits
  val reason: CloseReason.C = CloseReason()
  reason := CloseReason.policyArgument
  when(!startup.exists || !steady.exists)(reason := CloseReason.unknownPolicy)
}

object PolicyCheck {
  val clocks = 2
}
