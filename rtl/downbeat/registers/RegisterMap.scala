// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.config.{BuildNumbers, DownbeatConfig}
import downbeat.lib.BundleLayout
import downbeat.mac.{EthernetMac, MacCounters, TimeBase, TimeControl, WireRate}
import downbeat.messages.{Counters, StaticNeighbour, TraceRecord, Vlan}
import downbeat.time.{Instant, Stamp}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4Config, AxiLite4SpecRenamer}
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif._

/** The core's registers on AXI4-Lite: a layer on top of [[downbeat.Downbeat]], which does not depend on it.
  *
  * RegIf is the only source of the map: C header, SystemRDL and JSON are made from the same declarations
  * (builds/RegisterFiles). Counters, build numbers and the fields of a trace record are enumerated, so a new one gets
  * its register by itself.
  */
case class RegisterMap(config: DownbeatConfig, withMac: Boolean) extends Component with DescribesRegisters {
  val io = new Bundle {
    val s_axil = slave(AxiLite4(RegisterMap.bus))
    val trace = slave(Flow(TraceRecord(config)))
    /** Counters of the core; the registers add up their increments, a count in each clock. */
    val counters = in(Counters(CounterBank.countBits, hasVlans = config.vlans > 0, hasEcc = config.ecc))
    val coreIdle = in(Bool())
    /** To the core's reset. True from reset on until `enable` is written, with a MAC until its own reset is over too.
      */
    val coreReset = out(Bool())
    /** A reset waits until the core's bursts have ended ([[downbeat.memory.AxiDrain]]). */
    val drains = config.externalMemory generate out(Bool())
    val drained = config.externalMemory generate in(Bool())
    val now = config.externalMemory generate in(Instant())
    /** As Downbeat's ports of these names; they change in the core's reset only. */
    val local_mac = out(Bits(48 bits))
    val local_ip, local_netmask, local_gateway = out(UInt(32 bits))
    val local_vlans = (config.vlans > 0) generate out(Bits(config.vlans * Vlan.portBits bits))
    val secret = out(Bits(128 bits))
    val neighbour = master(Stream(StaticNeighbour(config.vlanBits)))
    val addressConflict = in(Bool())
    /** To and from EthernetMac's ports of these names. */
    val mac = withMac generate new Bundle {
      val linkUp = in(Bool())
      val counters = in(MacCounters(CounterBank.countBits))
      val increment = out(UInt(TimeBase.incrementBits bits))
      val softReset = out(Bool())
      val now = in(Stamp())
      val time = config.timeControl generate master(TimeControl())
    }
  }
  noIoPrefix()
  AxiLite4SpecRenamer(io.s_axil)

  private val port = RegisterPort(RegisterMap.bus)
  port.io.bus << io.s_axil
  private val inner = AxiLite4(RegisterMap.bus)
  inner << port.io.registers
  private val map = AxiLite4BusInterface(inner, SizeMapping(0, RegisterMap.bytes))
  private val declare = new RegisterDeclarations(map)
  import declare._

  // ---- identification and configuration: constants of the build

  startAt(0x000)
  constant("magic", RegisterMap.magic, "\"Down\" in ASCII.")
  private val version = register("version", "Semantic version of the core.")
  for ((part, value) <- Seq("patch", "minor", "major").zip(RegisterMap.version.reverse))
    constant(version, part, width = 8, value, "")

  startAt(0x020)
  for ((name, value) <- BuildNumbers(config)) constant(name, value, "a size of this build.")
  constant("startupPolicies", config.startupPolicies.size,
    "Number of start-up policies; `enum downbeat_startup_policy` names them.")
  constant("steadyPolicies", config.steadyPolicies.size,
    "Number of steady policies; `enum downbeat_steady_policy` names them.")
  constant("logCapacity", config.logRecords,
    "Records that the event log holds; 0: the build has no records.")

  // ---- control

  startAt(0x080)
  private val control = register("control", "")
  private val enable =
    control.field(Bool(), AccessType.RW, 0, "The core runs; 0 holds it in reset.")(SymbolName("enable"))
  private val softReset =
    control.field(Bool(), AccessType.W1P, 0, "1: resets the core for a moment.")(SymbolName("softReset"))
  private val status = register("status", "")
  status.field(Bool(), AccessType.RO, "The core runs: it is not in reset.")(SymbolName("running")) := !io.coreReset
  status.field(Bool(), AccessType.RO, "Nothing moves in the core.")(SymbolName("idle")) := io.coreIdle
  status.field(Bool(), AccessType.RO, "Another station claims our IP address.")(
    SymbolName("addressConflict")) := io.addressConflict
  private val neighbourWaits = Bool()
  status.field(Bool(), AccessType.RO, "A static neighbour has not been taken over yet.")(
    SymbolName("neighbourWaits")) := neighbourWaits

  /** The MAC's own reset must be over before the core speaks to it. */
  private val resetClocks = RegisterMap.resetClocks + (if (withMac) EthernetMac.softResetClocks else 0)
  private val resetRequested = !enable || softReset
  private val resetLeft = Reg(UInt(log2Up(resetClocks + 1) bits)) init 0
  private val coreReset = RegInit(True)
  private val waits = resetRequested || resetLeft =/= 0
  if (config.externalMemory) {
    // A memory that never answers holds up a reset for so long, and no longer.
    val deadline = Reg(Instant())
    val drains = waits && !coreReset
    when(!drains)(deadline := io.now + RegisterMap.drainNanoseconds)
    val overdue = RegNext(drains && io.now.hasReached(deadline)) init False
    io.drains := drains
    coreReset := waits && (coreReset || io.drained || overdue)
    when(resetLeft =/= 0 && coreReset)(resetLeft := resetLeft - 1)
    when(resetRequested)(resetLeft := resetClocks)
  } else {
    coreReset := waits
    when(resetLeft =/= 0)(resetLeft := resetLeft - 1)
    when(if (withMac) resetRequested else softReset)(resetLeft := resetClocks)
  }
  io.coreReset := coreReset

  // ---- addresses: the core must not see them change while frames are in it

  startAt(0x0a0)
  private val latched = "Taken over in reset."
  private val macHigh =
    value("localMacHigh", 16, AccessType.RW,
      s"Own MAC address: its first two bytes on the wire, the first higher. $latched")
  private val macLow = value("localMacLow", 32, AccessType.RW, s"Own MAC address: the other four bytes. $latched")
  private val ip = value("localIp", 32, AccessType.RW, s"Own IPv4 address, first byte of the wire highest. $latched")
  private val secret = for (part <- 3 to 0 by -1) yield {
    value(s"secret$part", 32, AccessType.WO,
      "32 bits of the random key of all hashes, `secret3` the highest; taken over while the core is in reset.")
  }
  private val netmask =
    value("localNetmask", 32, AccessType.RW, s"Leading ones; 0: every address is on our network. $latched")
  private val gateway =
    value("localGateway", 32, AccessType.RW, s"Next hop to all other networks; 0: there is none. $latched")
  private def takenOver[T <: Data](written: T): T = RegNextWhen(written, coreReset)
  io.local_mac := takenOver(macHigh ## macLow)
  io.local_ip := takenOver(ip.asUInt)
  io.local_netmask := takenOver(netmask.asUInt)
  io.local_gateway := takenOver(gateway.asUInt)
  io.secret := takenOver(secret.reduce(_ ## _))

  private val neighbourIp = value("neighbourIp", 32, AccessType.RW, "Static neighbour: its IPv4 address.").asUInt
  private val neighbourHigh = register("neighbourHigh", "Static neighbour:")
  private val neighbourMacHigh =
    neighbourHigh.field(Bits(16 bits), AccessType.RW, 0, "the first two bytes of its MAC address.")(SymbolName("mac"))
  private val neighbourRemove = neighbourHigh.field(Bool(), AccessType.RW, 0, "1: forget it.")(SymbolName("remove"))
  private val neighbourVlan =
    (config.vlans > 0) generate neighbourHigh.field(UInt(config.vlanBits bits), AccessType.RW, 0,
      "0: on the untagged network; n: on the VLAN of `localVlan` n.")(SymbolName("vlan"))
  private val neighbourLow =
    register("neighbourMacLow",
      "The other four bytes. A write hands the entry to the core, which takes it when it runs.")
  private val neighbourMacLow = neighbourLow.field(Bits(32 bits), AccessType.RW, 0, "MAC address.")(SymbolName("value"))
  private val neighbourEntry = RegInit(False) clearWhen io.neighbour.fire setWhen RegNext(neighbourLow.eventW(), False)
  neighbourWaits := neighbourEntry
  io.neighbour.valid := neighbourEntry && !coreReset
  io.neighbour.ip := neighbourIp
  io.neighbour.mac := neighbourMacHigh ## neighbourMacLow
  io.neighbour.remove := neighbourRemove
  io.neighbour.vlan := (if (config.vlans > 0) neighbourVlan else U(0))

  // ---- the VLANs, likewise
  if (config.vlans > 0) io.local_vlans := takenOver(Cat(for (number <- 1 to config.vlans) yield {
    val vlan = register(s"localVlan$number", s"Own 802.1Q VLAN $number. $latched")
    val identifier =
      vlan.field(Bits(12 bits), AccessType.RW, 0, "VID; 0: none.")(SymbolName("identifier"))
    vlan.reserved(1 bits)
    val priority =
      vlan.field(Bits(3 bits), AccessType.RW, 0, "PCP of the frames that we send.")(SymbolName("priority"))
    priority ## False ## identifier
  }))

  // ---- counters: live, each read whole

  startAt(0x100)
  private def named(prefix: String, bundle: Bundle): Seq[(String, Bits)] =
    BundleLayout.of(prefix, bundle).fields.map(field =>
      s"${prefix}_${field.name}" -> bundle.asBits(field.offset, field.width bits))
  private val coreCounters =
    new CounterRegisters(declare, port.io.address, named("counter", io.counters), coreReset,
      "a count since the core's reset, modulo 2^32.")
  port.io.settled := coreCounters.settled

  // ---- trace: the last record of a flow, and the event log

  port.io.hold := False
  if (config.logRecords > 0) new Area {
    startAt(0x200)
    private val store = TraceStore(config)
    store.io.trace << io.trace
    private val log = register("log", "The event log.")
    store.io.frozen := log.field(Bool(), AccessType.RW, 0, "The log takes no more records.")(SymbolName("freeze"))
    shown("logged", store.io.logged.asBits, "Records in the log.")
    private val select =
      register("recordSelect", "A write fetches a record; reads of `record_...` that follow show it.")
    store.io.request.index :=
      select.field(UInt(16 bits), AccessType.RW, 0, "The flow; or how many records ago, 0 is the newest.")(
        SymbolName("index"))
    store.io.request.log := select.field(Bool(), AccessType.RW, 0, "1: from the event log. 0: the flow's last record.")(
      SymbolName("log"))
    store.io.request.valid := select.eventW()
    port.io.hold.removeAssignments() := store.io.busy
    shown("recordFound", store.io.found.asBits, "1: there is such a record, and `record_...` show it.")
    for (field <- BundleLayout.of("TraceRecord", store.io.record).fields)
      shown(s"record_${field.name}", store.io.record.asBits(field.offset, field.width bits),
        "a field of the trace record that `recordSelect` fetched.")
  }

  // ---- the MAC

  if (withMac) new Area {
    startAt(0x400)
    io.mac.softReset := RegNext(resetRequested) init True
    private val link = register("link", "")
    link.field(Bool(), AccessType.RO, "The link is up.")(SymbolName("up")) := io.mac.linkUp
    private val nominal = WireRate.of(config).nominalIncrement
    private val high = register("incrementHigh", "Time by which a clock of the wire moves the time base on.")
      .field(UInt(TimeBase.incrementBits - 32 bits), AccessType.RW, nominal >> 32,
        "ns; 8 at 125 MHz, 6 at 156.25 MHz.")(
        SymbolName("ns"))
    private val lowRegister =
      register("incrementLow",
        "Its fraction. A write takes both over, unless `incrementHigh` is 0; the time stays monotone.")
    private val low =
      lowRegister.field(UInt(32 bits), AccessType.RW, nominal % (BigInt(1) << 32), "2^-32 ns.")(SymbolName("fraction"))
    private val written = RegNext(lowRegister.eventW()) init False
    io.mac.increment := RegNextWhen(high @@ low, written && high =/= 0) init U(nominal, TimeBase.incrementBits bits)
    private val (latest, counts) = named("counter_mac", io.mac.counters).partition(_._1.endsWith("Lateness"))
    private val macCounters =
      new CounterRegisters(declare, port.io.address, counts, False, "frames since `reset`, modulo 2^32.")
    port.io.settled.removeAssignments() := coreCounters.settled && macCounters.settled
    for ((name, nanoseconds) <- latest) shown(name, nanoseconds, "ns, since `reset`; all ones: that or more.")
    new TimeRegisters(declare, io.mac.now)
    if (config.timeControl) new TimeControlRegisters(declare, io.mac.time, mayJump = !enable && coreReset)
  }

  port.io.readable := haveField(port.io.address, !_.isWriteOnly())
  port.io.writable := haveField(port.io.address,
    field => !Set[AccessType](AccessType.RO, AccessType.ROV)(field.getAccessType()))

  def registerMaps: Map[String, Seq[RegInst]] = Map("downbeat" -> registers)
}

object RegisterMap {
  val bytes: BigInt = 4096
  val bus: AxiLite4Config = AxiLite4Config(addressWidth = log2Up(bytes), dataWidth = 32)
  val magic: BigInt = 0x446f776e
  /** Major, minor, patch: as in pom.xml. */
  val version: Seq[Int] = Seq(0, 2, 0)
  /** Long enough to be seen from a clock of a quarter of the frequency. */
  val resetClocks: Int = 16
  /** A reset waits so long for the ends of bursts, and no longer. */
  def drainNanoseconds: UInt = U(1 << 19, 48 bits)
}
