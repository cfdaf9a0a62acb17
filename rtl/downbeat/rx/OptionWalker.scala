// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** The faults of the last list of IP options and of the last list of TCP options. */
case class OptionFaults() extends Bundle {
  val ipMalformed, tcpMalformed = Bool()
  val sourceRoute = Bool() // loose or strict (RFC 791 3.1)
}

/** Walks IP and TCP options, eight bytes a clock as they pass: both lists have one form (RFC 791 3.1, RFC 9293 3.1),
  * and they are five words apart at least.
  *
  * Where an option begins depends on all before it. So the pipeline first works out, for each byte of a window, how a
  * walk that enters there goes on: which bytes begin an option, and at which position it leaves. Then a loop of one
  * clock picks the entry that applies. Malformed is a length of 0 or 1, and an option that does not end where the list
  * ends or before.
  */
case class OptionWalker(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val windows = slave Flow (FrameWindow(config))
    val header = in(FrameHeader())
    /** Each window of a list, four clocks after the one behind it. */
    val walked = master Flow (WalkedWindow())
    /** Faults of a list, one clock after its last window. */
    val faults = out(OptionFaults())
  }
  noIoPrefix()

  private val tcpOptions = RegNext(io.header.tcpStart + 5)
  private val ipOptions = io.header.tagged ? U(10, 6 bits) | U(9, 6 bits)
  private val numbers = Seq(0, 1).map(io.windows.pair @@ U(_, 1 bit))
  private def within(from: UInt, to: UInt) = numbers.map(number => !(number < from) && number < to)
  private val inTcp = within(tcpOptions, io.header.payloadStart)
  private val inIp = within(ipOptions, io.header.tcpStart)
  private val inside = inTcp.zip(inIp).map { case (tcp, ip) => (tcp || ip) && !io.windows.empty }

  /** A window with options: together with the head of the next one, in which its last option may have length and value.
    */
  private case class Place() extends Bundle {
    val first, tcp = Bool()
    val beginsHigh, endsLow = Bool() // only that one of the words belongs to the list
  }
  private val held = Reg(Bool()) init False
  private val heldWords = Reg(Bits(64 bits))
  private val heldPlace = Reg(Place())
  when(io.windows.valid) {
    held := inside.orR
    heldWords := io.windows.words(0) ## io.windows.words(1)
    heldPlace.first := !held
    heldPlace.tcp := inTcp.orR
    heldPlace.beginsHigh := !inside(0)
    heldPlace.endsLow := !inside(1)
  }

  /** How a walk goes on that enters a window at one byte. */
  private case class Entry() extends Bundle {
    val exit = UInt(7 bits) // bytes from the window's begin; 64 and more: the list has ended
    val malformed = Bool()
    val begins = Bits(8 bits) // the bytes at which it finds an option
  }
  private case class Row() extends Bundle {
    val place = Place()
    val last = Bool() // the list's last window
    val bytes = Vec.fill(11)(Bits(8 bits))
    val known = KnownOptions()
    val entries = Vec.fill(8)(Entry())
  }

  // One option from each byte on.
  private val single = Flow(Row())
  single.valid := held && io.windows.valid
  single.place := heldPlace
  single.last := !inside.orR
  single.bytes.assignFromBits(EndiannessSwap(heldWords ## io.windows.words(0)(31 downto 8)))
  for (i <- 0 until 8) {
    val kind = single.bytes(i)
    val length = single.bytes(i + 1).asUInt
    val entry = single.entries(i)
    val isEnd = kind === 0
    val isNop = kind === 1
    val beyond = heldPlace.endsLow && Bool(i >= 4)
    entry.exit := (length(5 downto 0).resize(7) + i)
    when(isNop)(entry.exit := i + 1)
    when(isEnd || beyond)(entry.exit := 127)
    entry.malformed := beyond ? Bool(i > 4) | (!isEnd && !isNop && (length < 2 || 40 < length))
    entry.begins := beyond ? B(0, 8 bits) | B(1 << i, 8 bits)
    single.known.find(i, kind, length)
  }

  /** Continues the walks of `group` that stop inside `onto`, a group with finished entries. */
  private def continue(entries: Vec[Entry], group: Range, onto: Range): Vec[Entry] = {
    val continued = CombInit(entries)
    for (i <- group; j <- onto; if j > i) when(entries(i).exit === j) {
      continued(i).exit := entries(j).exit
      continued(i).malformed := entries(i).malformed || entries(j).malformed
      continued(i).begins := entries(i).begins | entries(j).begins
    }
    continued
  }
  // Enabled by `held` alone: whether the window passes is known too late for so many registers.
  private val decoded = Flow(Row())
  decoded.valid := RegNext(single.valid) init False
  decoded.payload := RegNextWhen(single.payload, held)
  private val halves = decoded.map { row =>
    val next = CombInit(row).allowOverride()
    val pairs = Seq(0, 2, 4, 6).foldLeft(row.entries)((entries, i) => continue(entries, i to i, i + 1 to i + 1))
    next.entries := Seq(0, 4).foldLeft(pairs)((entries, i) => continue(entries, i to i + 1, i + 2 to i + 3))
    next
  }
  private val whole = halves.m2sPipe(holdPayload = true).map { row =>
    val next = CombInit(row).allowOverride()
    next.entries := continue(row.entries, 0 to 3, 4 to 7)
    next
  }

  // The loop: `position` counts from the begin of the window that comes.
  private val table = whole.m2sPipe(holdPayload = true)
  private val position = Reg(UInt(7 bits))
  private val begin = table.place.first ? (table.place.beginsHigh ? U(4, 7 bits) | U(0, 7 bits)) | position
  private val entry = table.entries(begin(2 downto 0))
  private val enters = !begin(6 downto 3).orR
  private val exit = enters ? entry.exit | begin
  when(table.valid)(position := exit - 8)

  private val found = RegNext(table.valid) init False
  private val row = RegNextWhen(table.payload, table.valid)
  private val begins = RegNextWhen(entry.begins.andMask(enters), table.valid)
  private val entersMalformed = RegNextWhen(enters && entry.malformed, table.valid)
  private val left = RegNextWhen(exit, table.valid)
  private val endsRight = left.msb || (!row.place.endsLow && left === 8)
  private val malformed = entersMalformed || row.last && !endsRight

  io.walked.valid := found
  io.walked.first := row.place.first
  io.walked.tcp := row.place.tcp
  io.walked.bytes := row.bytes
  io.walked.begins := begins
  io.walked.known := row.known

  private val faults = Reg(OptionFaults())
  io.faults := faults
  when(found && row.place.tcp)(faults.tcpMalformed := malformed || (faults.tcpMalformed && !row.place.first))
  when(found && !row.place.tcp) {
    val routed = (begins & row.known.sourceRoute).orR
    faults.sourceRoute := routed || (faults.sourceRoute && !row.place.first)
    faults.ipMalformed := malformed || (faults.ipMalformed && !row.place.first)
  }
}
