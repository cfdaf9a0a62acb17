// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.congestion.Policy
import downbeat.messages.{CloseReason, ConnectionParameters}
import spinal.core._
import spinal.lib._

/** Checks that the policies of a command exist and take its arguments. The result is valid `PolicyCheck.clocks` after
  * the parameters have come.
  */
class PolicyCheck(config: DownbeatConfig, parameters: ConnectionParameters) extends Area {
  private class Family(policies: Seq[Policy], index: UInt, argument: Bits) extends Area {
    /** For each policy: it takes this argument. */
    private val takes = policies.map { policy =>
      val conditions = policy.arguments.conditions(argument).map(RegNext(_))
      val nothing = if (policy.arguments.needed) False else RegNext(!argument.orR)
      nothing || conditions.fold(True)(_ && _)
    }
    private val codes = 1 << widthOf(index)
    val exists = RegNext(if (policies.size == codes) True else RegNext(index < policies.size))
    val fits = RegNext(Vec(takes ++ Seq.fill(codes - policies.size)(False))(index))
  }
  private val startup = new Family(config.startupPolicies, parameters.startup, parameters.startupArgument)
  private val steady = new Family(config.steadyPolicies, parameters.steady, parameters.steadyArgument)

  val legal: Bool = startup.fits && steady.fits
  val reason: CloseReason.C = CloseReason()
  reason := CloseReason.policyArgument
  when(!startup.exists || !steady.exists)(reason := CloseReason.unknownPolicy)
}

object PolicyCheck {
  val clocks = 2
}
