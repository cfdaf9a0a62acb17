// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

/** The one immutable configuration of a build; widths are derived here and nowhere else. */
case class DownbeatConfig(flowCount: Int = 16)

object DownbeatConfig {
  val presets: Map[String, DownbeatConfig] = Map("default" -> DownbeatConfig())
}
