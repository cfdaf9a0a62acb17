// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.config.DownbeatConfig
import downbeat.congestion.PolicySet
import spinal.core._

/** Named builds: `default` to start from, `sim` for network experiments (windows up to 1 MiB and peers
  * like ns-3's that send no MSS option), `sim64` for many flows at once, `sim65536` for the most flows and the largest
  * windows, `ns2` for papers that ran in ns-2, with its floor of the retransmission timeout, `small` for an FPGA with
  * little block RAM, `lean` with one policy of either kind, standard slow start and Reno, `board` with four flows and
  * what the application on a board uses, an event in eight clocks, no records of events, `ten` for a MAC of 10 Gb/s,
  * `hundred` for one of 100 Gb/s with AXI4-Stream,
  * `host` for tests of the driver: rings that wrap often, few policies.
  */
object Presets {
  private val plain =
    DownbeatConfig(startup = PolicySet.whole(Policies.startup), steady = PolicySet.whole(Policies.steady))
  private val default = plain.copy(hostStart = true, pathReports = true, vlans = 3)
  private val untagged = default.copy(vlans = 0)
  private val largest =
    untagged.copy(flows = 65536, timeWaits = 16384, sendBufferBytes = 1 << 24, receiveBufferBytes = 1 << 24,
      assumedPeerMss = 1460)
  private val small = plain.copy(timeWaits = 64, sendBufferBytes = 4096, receiveBufferBytes = 4096)

  val all: Map[String, DownbeatConfig] = Map(
    "default" -> default,
    "sim" -> untagged.copy(sendBufferBytes = 1 << 20, receiveBufferBytes = 1 << 20, assumedPeerMss = 1460),
    "sim64" -> untagged.copy(flows = 64, assumedPeerMss = 1460),
    "sim65536" -> largest,
    "ns2" -> largest.copy(minimumRto = 200 ms),
    "small" -> small,
    "lean" -> plain.having("standard")("reno").copy(timeWaits = 64),
    "board" -> small.having("standard", "paced", "pairs")("reno").copy(flows = 4, timeWaits = 16, logRecords = 0,
      eventSpacing = 8,
      clock = 62.5 MHz),
    "ten" -> default.copy(flows = 64, xgmii = true, clock = 156.25 MHz),
    "hundred" -> default.copy(flows = 64, beatBytes = 64, clock = 322 MHz),
    "host" -> small.having("standard", "paced", "pairs")("reno", "cubic").copy(hostStart = true, pathReports = true,
      externalMemory = true, hostPorts = 4))
}
