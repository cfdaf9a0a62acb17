// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{AddressReadPort, ConnectionAddresses}
import spinal.core._
import spinal.lib._

/** The key of a flow's connection: 4-tuple and generation. */
case class ConnectionKey(config: DownbeatConfig) extends Bundle {
  val tuple = FlowTuple(config.vlanBits)
  val generation = UInt(config.generationBits bits)
}

/** Reads the key of a flow. It is in registers two clocks after `enable`, until the next read. */
case class KeyReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val flow = UInt(config.flowBits bits)
  val key = ConnectionKey(config)

  override def asMaster(): Unit = {
    out(enable, flow)
    in(key)
  }
}

case class ConnectionWrite(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val generation = UInt(config.generationBits bits)
  val addresses = ConnectionAddresses(config)
}

/** The addresses of each connection, written once when it opens.
  *
  * The 4-tuple is kept a second time, with the generation, for the lookup. Each reader of addresses has a read port of
  * its own and never waits.
  */
case class ConnectionTable(config: DownbeatConfig, readers: Int) extends Component {
  val io = new Bundle {
    val write = slave(Flow(ConnectionWrite(config)))
    val keyRead = slave(KeyReadPort(config))
    val addressRead = Vec.fill(readers)(slave(AddressReadPort(config)))
  }
  noIoPrefix()

  // A flow is never read in the clock in which it is written: its first event has not left yet.
  private val keys = StateMemory(config.ecc, ConnectionKey(config), config.flows).addAttribute("no_rw_check")
  private val addresses = StateMemory(config.ecc, ConnectionAddresses(config), config.flows).addAttribute("no_rw_check")

  private val written = io.write.m2sPipe()
  private val newKey = ConnectionKey(config)
  newKey.tuple.remoteIp := written.addresses.remoteIp
  newKey.tuple.remotePort := written.addresses.remotePort
  newKey.tuple.localPort := written.addresses.localPort
  newKey.tuple.vlan := written.addresses.vlan
  newKey.generation := written.generation
  keys.write(written.flow, newKey, written.valid)
  addresses.write(written.flow, written.addresses, written.valid)

  private val key = keys.readSync(io.keyRead.flow, io.keyRead.enable)
  io.keyRead.key := RegNextWhen(key, RegNext(io.keyRead.enable) init False)
  for (reader <- io.addressRead)
    reader.addresses := addresses.readSync(reader.flow, reader.enable)
}
