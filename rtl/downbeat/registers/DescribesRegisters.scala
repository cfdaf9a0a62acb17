// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import spinal.lib.bus.regif.RegInst

/** A top whose registers the build writes as text. */
trait DescribesRegisters {
  /** Lists of registers by name: `downbeat` is the core's own map, others are those of a board. */
  def registerMaps: Map[String, Seq[RegInst]]
}
