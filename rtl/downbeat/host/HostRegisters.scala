// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.registers.{RegisterMap, RegisterPort}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** The host's pages behind the core's registers: set-up, and a page of doorbells for each port.
  *
  * [[HostFormat]] is the only source of the offsets. A doorbell is taken before the next access begins. A write of less
  * than a word is refused. The registers outlive the core's reset, but it stops all ports.
  */
case class HostRegisters(config: DownbeatConfig) extends Component {
  private val bus = HostRegisters.bus(config)
  val io = new Bundle {
    /** Byte addresses from the core's registers on: page 0 is not here. */
    val s_axil = slave(AxiLite4(bus))
    val coreReset = in(Bool())
    val setUp = out(Vec.fill(config.hostPorts)(HostSetUp()))
    val shown = in(Vec.fill(config.hostPorts)(HostShown()))
    val doorbells = master(Stream(Doorbell(config)))
    val payloadBase = out(UInt(64 bits))
  }
  noIoPrefix()
  AxiLite4SpecRenamer(io.s_axil)

  private val port = RegisterPort(bus)
  port.io.bus << io.s_axil
  private val access = port.io.registers
  private val address = port.io.address
  private val page = address >> log2Up(HostFormat.pageBytes)
  private val offset = address(log2Up(HostFormat.pageBytes) - 1 downto 0)

  private val writes = access.aw.valid && access.w.valid
  access.aw.ready := True
  access.w.ready := True
  access.ar.ready := True
  access.b.valid := RegNext(writes) init False
  access.b.setOKAY()
  access.r.valid := RegNext(access.ar.valid) init False
  access.r.setOKAY()

  /** A register: where it is, what it shows, what a write does. */
  private case class Place(hit: Bool, access: String, shows: Bits, write: Bits => Unit)
  private def at(pageNumber: Int, first: Int, fields: Seq[HostField], name: String)(shows: Bits)(
      write: Bits => Unit): Place = {
    val field = HostFormat.field(fields, name)
    Place(page === pageNumber && offset === first + field.offset, field.access, shows, write)
  }
  private def shown(pageNumber: Int, first: Int, fields: Seq[HostField], name: String)(shows: Bits): Place =
    at(pageNumber, first, fields, name)(shows.resize(32))(_ => ())
  private def kept(pageNumber: Int, first: Int, fields: Seq[HostField], name: String)(register: UInt): Place =
    at(pageNumber, first, fields, name)(register.asBits)(data => register := data.asUInt)

  // ---- set-up of all ports

  private def word = Reg(UInt(32 bits)) init 0
  private val baseLow, baseHigh = word
  io.payloadBase := RegNextWhen(baseHigh @@ baseLow, io.coreReset) init 0
  private def all(name: String) = shown(HostFormat.setUpPage, 0, HostFormat.setUp, name) _
  private val common = Seq(
    all("hostPorts")(B(config.hostPorts, 32 bits)),
    all("hostFormat")(B(HostFormat.number, 32 bits)),
    all("formatHash")(B(HostFormatHash.formatHash, 32 bits)),
    all("policyHash")(B(HostFormatHash.policyHash(config), 32 bits)),
    kept(HostFormat.setUpPage, 0, HostFormat.setUp, "payloadBaseLow")(baseLow),
    kept(HostFormat.setUpPage, 0, HostFormat.setUp, "payloadBaseHigh")(baseHigh),
    all("interrupts")(B(io.shown.map(_.interrupt))))

  // ---- each port's block and page

  private val rings = RegInit(False) clearWhen io.doorbells.fire
  private val rung = Reg(Doorbell(config))
  io.doorbells.valid := rings && !io.coreReset
  io.doorbells.payload := rung
  when(io.coreReset)(rings := False)
  port.io.hold := rings

  private def placesOf(index: Int): Seq[Place] = {
    val first = HostFormat.firstPortBlock + index * HostFormat.portBlockBytes
    val enable = RegInit(False) clearWhen io.coreReset
    val commandLow, commandHigh, commandSize, notificationLow, notificationHigh, notificationSize, holdOff = word
    val setUp = io.setUp(index)
    val shows = io.shown(index)
    setUp.enable := enable
    setUp.commandBase := commandHigh @@ commandLow
    setUp.commandSize := commandSize
    setUp.notificationBase := notificationHigh @@ notificationLow
    setUp.notificationSize := notificationSize
    setUp.holdOff := holdOff
    def block(name: String) = kept(HostFormat.setUpPage, first, HostFormat.port, name) _
    def state(name: String) = shown(HostFormat.setUpPage, first, HostFormat.port, name) _

    val page = HostFormat.firstDoorbellPage + index
    val writtenSequence, consumedSequence = word
    def half(name: String) = kept(page, 0, HostFormat.doorbells, name) _
    def bell(name: String, kind: HostSource.E)(sequence: Option[UInt]) =
      at(page, 0, HostFormat.doorbells, name)(B(0, 32 bits)) { data =>
        rings := !io.coreReset
        rung.port := index
        rung.kind := kind
        rung.value := sequence.getOrElse(data.asUInt)
        rung.flow := data(15 downto 0).asUInt
        rung.generation := data(23 downto 16).asUInt
        rung.urgent := data(24)
        rung.reserved := data(31 downto 25)
      }
    def doorbell(name: String) = shown(page, 0, HostFormat.doorbells, name) _
    Seq(
      at(HostFormat.setUpPage, first, HostFormat.port, "control")(enable.asBits.resize(32))(data =>
        enable := data(0) && !io.coreReset),
      state("status")(HostFormat.pack(HostFormat.portStatus)(
          "running" -> shows.running, "refused" -> shows.refused, "stopped" -> shows.stopped)),
      block("commandBaseLow")(commandLow),
      block("commandBaseHigh")(commandHigh),
      block("commandSizeLog2")(commandSize),
      block("notificationBaseLow")(notificationLow),
      block("notificationBaseHigh")(notificationHigh),
      block("notificationSizeLog2")(notificationSize),
      block("holdOff")(holdOff),
      state("errors")(shows.errors.asBits),
      state("errorsUnreported")(shows.errorsUnreported.asBits),
      half("writtenSequence")(writtenSequence),
      bell("writtenFlow", HostSource.written)(Some(writtenSequence)),
      half("consumedSequence")(consumedSequence),
      bell("consumedFlow", HostSource.consumed)(Some(consumedSequence)),
      bell("commandTail", HostSource.commandTail)(None),
      bell("notificationHead", HostSource.notificationHead)(None),
      bell("notificationHeadArm", HostSource.notificationHeadArm)(None),
      doorbell("commandHead")(shows.commandHead.asBits),
      doorbell("notificationTail")(shows.notificationTail.asBits))
  }

  private val places = common ++ (0 until config.hostPorts).flatMap(placesOf)
  for (place <- places) when(place.hit && writes)(place.write(access.w.data))
  private def hit(access: String*): Bool = places.filter(place => access.contains(place.access)).map(_.hit).orR
  port.io.readable := hit("RO", "RW")
  port.io.writable := hit("WO", "RW") && port.io.whole
  access.r.data := RegNext(places.filter(_.access != "WO").map(place => place.hit ? place.shows | B(0, 32 bits))
      .reduceBalancedTree(_ | _))
}

object HostRegisters {
  /** All pages, those of [[RegisterMap]] before them. */
  def bus(config: DownbeatConfig): AxiLite4Config = AxiLite4Config(
    addressWidth = log2Up((HostFormat.firstDoorbellPage + config.hostPorts) * HostFormat.pageBytes),
    dataWidth = RegisterMap.bus.dataWidth)
}
