// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.config

/** Numbers of the configuration that a program on the other side of the ports must know, by name. */
object BuildNumbers {
  def apply(config: DownbeatConfig): Seq[(String, BigInt)] = Seq[(String, BigInt)](
    "flows" -> config.flows,
    "listeners" -> config.listeners,
    "sendBufferBytes" -> config.sendBufferBytes,
    "receiveBufferBytes" -> config.receiveBufferBytes,
    "maximumFrameBytes" -> config.maximumFrameBytes,
    "mtu" -> config.mtu,
    "ownMss" -> config.ownMss,
    "receiveWindowScale" -> config.receiveWindowScale,
    "clockHz" -> config.clock.toBigDecimal.toBigInt) ++
    (if (config.vlans > 0) Seq("vlans" -> BigInt(config.vlans)) else Nil) ++
    Seq("hostStart" -> config.hostStart, "pathReports" -> config.pathReports).collect { case (name, true) =>
      name -> BigInt(1)
    }
}
