// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{CommandPort, Notifier}
  /** With one for each registered policy. */
  val all: Map[String, DownbeatConfig => Component] = own ++ PolicyBench.rooms

  /** The room of that name; `Fmax` before a name means the room inside the harness that `make fmax` measures. */
  def find(name: String): Option[DownbeatConfig => Component] =
    all.get(name).orElse(all.get(name.stripPrefix("Fmax")).map(room => config => new FmaxHarness(room(config))))
}
