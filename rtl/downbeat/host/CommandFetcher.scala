// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** Fetches the commands of all ports, one at a time and the ports in turn. A port's next command waits for a place for
  * its response.
  */
case class CommandFetcher(config: DownbeatConfig) extends Component {
  private val count = config.hostPorts
  val io = new Bundle {
    val ports = in(Vec.fill(count)(HostPortView()))
    val space = in(Vec.fill(count)(Bool()))
    val axi = master(Axi4ReadOnly(HostPorts.axi))
    val commands = master(Stream(HostCommand(config)))
    /** A fetch begins; a command is done; the memory refused one; one is on its way. */
    val reserves, dones, brokens, busy = out(Bits(count bits))
    /** The command that the memory refused gives its place back. */
    val releases = out(Bits(count bits))
    val idle = out(Bool())
  }
  noIoPrefix()
  Axi4SpecRenamer(io.axi)

  private object Step extends SpinalEnum {
    val idle, address, request, read, offer = newElement()
  }
  private val step = RegInit(Step.idle)
  private val port = Reg(HostPorts.index(config))
  private val view = io.ports(port)
  private val last = Reg(Bits(count bits)) init 1
  private val wants = B(io.ports.zip(io.space).map { case (port, space) =>
    port.running && port.commandHead =/= port.commandTail && space
  })
  private val choice = OHMasking.roundRobin(wants, last.rotateLeft(1))
  private def ofPort(condition: Bool): Bits = condition ? (U(1, count bits) |<< port).asBits | B(0, count bits)

  private val place = Reg(UInt(64 bits))
  private val entry = Reg(Bits(HostFormat.commandBytes * 8 bits))
  private val failed = Reg(Bool())
  private val entryBits = log2Up(HostFormat.commandBytes)

  io.reserves := 0
  io.dones := 0
  io.brokens := 0
  switch(step) {
    is(Step.idle) {
      failed := False
      when(wants.orR) {
        port := OHToUInt(choice).resized
        last := choice
        io.reserves := choice
        step := Step.address
      }
    }
    is(Step.address) {
      val mask = ((U(1, 16 bits) |<< view.commandSize) - 1).resize(HostFormat.largestSizeLog2)
      val index = view.commandHead.resize(HostFormat.largestSizeLog2) & mask
      place := view.commandBase + (index << entryBits)
      step := Step.request
    }
    is(Step.request)(when(io.axi.ar.ready)(step := Step.read))
    is(Step.read) {
      when(io.axi.r.valid) {
        entry := io.axi.r.data ## entry(entry.high downto 64)
        failed setWhen io.axi.r.resp(1)
        when(io.axi.r.last)(step := Step.offer)
      }
    }
    is(Step.offer) {
      when(failed) {
        io.brokens := ofPort(True)
        step := Step.idle
      } elsewhen (io.commands.ready) {
        io.dones := ofPort(True)
        step := Step.idle
      }
    }
  }
  io.releases := io.brokens
  io.busy := ofPort(step =/= Step.idle)

  io.axi.ar.valid := step === Step.request
  io.axi.ar.addr := place
  io.axi.ar.id := 0
  io.axi.ar.len := HostFormat.commandBytes / 8 - 1
  io.axi.ar.size := 3
  io.axi.ar.burst := Axi4.burst.INCR
  io.axi.r.ready := step === Step.read

  io.commands.valid := step === Step.offer && !failed
  io.commands.port := port
  io.commands.entry := entry

  io.idle := step === Step.idle && !wants.orR
}
