// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.config.{BuildNumbers, DownbeatConfig}
import downbeat.congestion.{Arguments, CongestionEventKind}
import downbeat.lib.{BundleLayout, EnumLayout}
import downbeat.messages.{
  CloseReason, Command, CommandKind, EventKind, NetworkErrorKind, Notification, PathPhase, PathReport, StartPace,
  TcpState, TraceRecord
}
import downbeat.wire.LaunchMode
import spinal.core._

/** A build as a program sees it: where the fields of commands, notifications and trace records lie, what the
  * enumerations' numbers mean, and by which numbers its policies go.
  *
  * A nested field is named by its path: `status_reference_flow`.
  */
case class Layout(config: DownbeatConfig) {
  // Bundles can be made outside a design, but not without this.
  GlobalData.reset(SpinalConfig())

  val enums: Seq[EnumLayout] =
    Seq(CommandKind, TcpState, CloseReason, NetworkErrorKind, EventKind, CongestionEventKind, LaunchMode,
      StartPace, PathPhase).map(EnumLayout.of)

  val bundles: Seq[BundleLayout] = Seq(
    BundleLayout.of("Command", Command(config)),
    BundleLayout.of("Notification", Notification(config)),
    BundleLayout.of("PathReport", PathReport(config)),
    BundleLayout.of("TraceRecord", TraceRecord(config)))

  private val families = Seq("StartupPolicy" -> config.startup, "SteadyPolicy" -> config.steady)

  /** The name of each policy, in order of the numbers by which a connection's parameters choose it. */
  val policies: Seq[EnumLayout] =
    families.map { case (family, set) => EnumLayout(family, set.present.map(_.name), Some(set.numbers)) }

  /** The arguments of each policy, by its family's name and its own. */
  val arguments: Seq[(String, Seq[(String, Arguments)])] =
    families.map { case (family, set) => family -> set.present.map(policy => policy.name -> policy.arguments) }

  /** The state of each policy, by its family's name. */
  val states: Seq[(String, Seq[BundleLayout])] =
    families.map { case (family, set) =>
      family -> set.present.map(policy => BundleLayout.of(policy.name, policy.state))
    }

  /** Those of registers, and one for who drives the ports. */
  val numbers: Seq[(String, BigInt)] = BuildNumbers(config) :+ ("beatBytes" -> BigInt(config.beatBytes))
}
