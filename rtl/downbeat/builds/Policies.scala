// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.congestion.{StartupPolicy, SteadyPolicy}
import downbeat.congestion.startup.{
  Astart, Hoe, Hystart, Lbc, Limited, Miss, Paced, Pairs, Past, Rapid, Resume, Search, Spm, Spmastart, Ssipp, Standard,
  Vegasstart
}
import downbeat.congestion.steady.{Aimd, Bbr, Carson, Cubic, Fast, Hstcp, Logistic, Reno, Stcp, Vegas, Westwood}

/** The registry: one line for each policy. */
object Policies {
  val startup: Seq[StartupPolicy] = Seq(
    Standard,
    Ssipp,
    Paced,
    Pairs,
    Lbc,
    Hystart,
    Limited,
    Hoe,
    Spm,
    Vegasstart,
    Past,
    Rapid,
    Search,
    Astart,
    Spmastart,
    Miss,
    Resume) ++ OutsidePolicies.of[StartupPolicy]("startup")
  val steady: Seq[SteadyPolicy] = Seq(
    Reno,
    Aimd,
    Carson,
    Cubic,
    Logistic,
    Stcp,
    Hstcp,
    Fast,
    Vegas,
    Westwood,
    Bbr) ++ OutsidePolicies.of[SteadyPolicy]("steady")
}
