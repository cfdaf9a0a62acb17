// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.mac.EthernetMac
import spinal.core._

/** For `make fmax`: the MAC with one clock for all its domains, so that the figure is that of the slowest, the wire's
  * or the core's.
  */
case class MacOnOneClock(config: DownbeatConfig) extends Component {
  private val mac = EthernetMac(config)
  private val clocks = Seq(mac.receiveClock, mac.transmitClock, mac.io.externalClock)
  for (clock <- clocks) {
    clock := ClockDomain.current.readClockWire
    Clock.syncDrive(ClockDomain.current.clock, clock)
  }
  for (inner <- mac.io.flatten if !clocks.exists(_ eq inner)) {
    val outer = cloneOf(inner).asInstanceOf[BaseType].copyDirectionOfImpl(inner)
    addPrePopTask(() => outer.setName(inner.getName()))
    if (inner.isInput) inner.assignFrom(outer) else outer.assignFrom(inner)
  }
}
