// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.congestion.startup.{Hystart, Lbc, Limited, Paced, Pairs, Ssipp, Standard}
import downbeat.congestion.steady.{Aimd, Reno}

/** The registry: one line for each policy. */
object Policies {
  val startup: Seq[StartupPolicy] = Seq(
    Standard,
    Ssipp,
    Paced,
    Pairs,
    Lbc,
    Hystart,
    Limited
  )
  val steady: Seq[SteadyPolicy] = Seq(
    Reno,
    Aimd
  )
}
