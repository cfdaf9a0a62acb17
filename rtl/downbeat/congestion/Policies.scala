// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.congestion.startup.{Paced, Pairs, Ssipp, Standard}
import downbeat.congestion.steady.Reno

/** The registry: one line for each policy. */
object Policies {
  val startup: Seq[StartupPolicy] = Seq(
    Standard,
    Ssipp,
    Paced,
    Pairs
  )
  val steady: Seq[SteadyPolicy] = Seq(
    Reno
  )
}
