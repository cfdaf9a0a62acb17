// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{AddressReadPort, ConnectionAddresses}
import spinal.core._
import spinal.lib._

/** The key of a connection: its 4-tuple, and what belongs to the place that holds it. */
case class ConnectionKey(config: DownbeatConfig) extends Bundle {
  val tuple = FlowTuple(config.vlanBits)
  /** A flow has it. */
  val generation = UInt(config.generationBits bits)
  /** A place in TIME-WAIT has it. */
  val timer = TimeWaitTimer(config)
}

/** Reads the key of a place. It is in registers two clocks after `enable`, until the next read. */
case class KeyReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val place = ConnectionPlace(config)
  val key = ConnectionKey(config)

  override def asMaster(): Unit = {
    out(enable, place)
    in(key)
  }
}

case class ConnectionWrite(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val generation = UInt(config.generationBits bits)
  val addresses = ConnectionAddresses(config)
}

/** A place in TIME-WAIT gets a 4-tuple, or another timer. */
case class TimeWaitWrite(config: DownbeatConfig) extends Bundle {
  val index = UInt(config.timeWaitBits bits)
  val tuple = FlowTuple(config.vlanBits)
  val timer = TimeWaitTimer(config)
}

/** The addresses of each connection, written when it opens, its MAC also when that moves, and the keys of flows and of places in TIME-WAIT.
  *
  * The 4-tuple is kept a second time, with the generation, for the lookup. Each reader of addresses has a read port of
  * its own and never waits.
  */
case class ConnectionTable(config: DownbeatConfig, readers: Int) extends Component {
  val io = new Bundle {
    val write = slave(Flow(ConnectionWrite(config)))
    val timeWaitWrite = slave(Flow(TimeWaitWrite(config)))
    /** Not in the clock behind `write`. */
    val macWrite = slave(Flow(MacWrite(config)))
    val keyRead = slave(KeyReadPort(config))
    val addressRead = Vec.fill(readers)(slave(AddressReadPort(config)))
  }
  noIoPrefix()

  private case class FlowKey() extends Bundle {
    val tuple = FlowTuple(config.vlanBits)
    val generation = UInt(config.generationBits bits)
  }
  private case class TimeWaitKey() extends Bundle {
    val tuple = FlowTuple(config.vlanBits)
    val timer = TimeWaitTimer(config)
  }

  // A flow is never read in the clock in which it is written: its first event has not left yet.
  private val keys = StateMemory(config.ecc, FlowKey(), config.flows).addAttribute("no_rw_check")
  private val timeWaitKeys =
    StateMemory(config.ecc, TimeWaitKey(), config.timeWaits).addAttribute("no_rw_check")
  // All but the MAC, which is the lowest field.
  private val macBits = widthOf(ConnectionAddresses(config).remoteMac)
  private val otherBits = widthOf(ConnectionAddresses(config)) - macBits
  private val others = StateMemory(config.ecc, Bits(otherBits bits), config.flows).addAttribute("no_rw_check")
  private val macs = StateMemory(config.ecc, Bits(macBits bits), config.flows)

  private val written = io.write.m2sPipe()
  private val newKey = FlowKey()
  newKey.tuple.remoteIp := written.addresses.remoteIp
  newKey.tuple.remotePort := written.addresses.remotePort
  newKey.tuple.localPort := written.addresses.localPort
  newKey.tuple.vlan := written.addresses.vlan
  newKey.generation := written.generation
  keys.write(written.flow, newKey, written.valid)
  others.write(written.flow, written.addresses.asBits.dropLow(macBits), written.valid)
  private val opens = written.valid
  macs.write(
    opens ? written.flow | io.macWrite.flow, opens ? written.addresses.remoteMac | io.macWrite.mac,
    opens || io.macWrite.valid)

  private val timed = io.timeWaitWrite.m2sPipe()
  private val timedKey = TimeWaitKey()
  timedKey.tuple := timed.tuple
  timedKey.timer := timed.timer
  timeWaitKeys.write(timed.index, timedKey, timed.valid)

  private val place = io.keyRead.place
  private val ofFlow = keys.readSync(place.flow, io.keyRead.enable)
  private val ofTimeWait = timeWaitKeys.readSync(place.timeWait, io.keyRead.enable)
  private val inTimeWait = RegNextWhen(place.inTimeWait, io.keyRead.enable)
  private val key = ConnectionKey(config)
  key.tuple := inTimeWait ? ofTimeWait.tuple | ofFlow.tuple
  key.generation := ofFlow.generation
  key.timer := ofTimeWait.timer
  io.keyRead.key := RegNextWhen(key, RegNext(io.keyRead.enable) init False)
  for (reader <- io.addressRead) {
    val other = others.readSync(reader.flow, reader.enable)
    // While the MAC moves, a frame may have either.
    val mac = macs.readSync(reader.flow, reader.enable)
    reader.addresses.assignFromBits(other ## mac)
  }
}
