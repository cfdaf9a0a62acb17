// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.WideMemory
import downbeat.messages.{CloseReason, ConnectionParameters, ListenRequest, Refusal}
import spinal.core._
import spinal.lib._

/** The ports that listen, and the parameters of the connections that come in by them. */
case class ListenerTable(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val listens = slave(Stream(ListenRequest(config)))
    val refused = master(Stream(Refusal()))
    /** A port to look for; `listening` is about what it was two clocks before, `parameters` three. */
    val port = in UInt (16 bits)
    val listening = out Bool ()
    val parameters = out(ConnectionParameters(config))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val used = Vec.fill(config.listeners)(RegInit(False))
  private val ports = Vec.fill(config.listeners)(Reg(UInt(16 bits)))
  private val parameters = WideMemory(Mem(ConnectionParameters(config), config.listeners))

  private def places(port: UInt): Bits = used.zip(ports).map { case (valid, own) => valid && own === port }.asBits()

  private val search = new Area {
    val hits = RegNext(places(io.port))
    io.listening := RegNext(hits.orR)
    io.parameters := RegNext(parameters.readSync(OHToUInt(hits), enable = hits.orR))
  }

  private val change = new Area {
    val request = io.listens.halfPipe()
    val looked = RegNext(request.valid && !request.ready) init False
    val hits = RegNextWhen(places(request.port), request.valid)
    val vacant = RegNextWhen(OHMasking.first(~used.asBits), request.valid)
    val known = hits.orR
    val place = request.remove ? hits | vacant
    // Port 0 is none (RFC 6335 6).
    val none = RegNextWhen(request.port === 0, request.valid)
    val impossible = !request.remove && (known || !vacant.orR || none)

    val refusal = Stream(Refusal())
    refusal.valid := looked && request.valid && impossible
    refusal.request := request.request
    refusal.reason := known ? CloseReason.addressInUse() | CloseReason.outOfResources()
    io.refused << refusal.halfPipe()

    request.ready := looked && (!impossible || refusal.ready)
    private val changes = request.fire && !impossible
    for (index <- 0 until config.listeners)
      when(changes && place(index)) {
        used(index) := !request.remove
        ports(index) := request.port
      }
    parameters.write(OHToUInt(vacant), request.parameters, changes && !request.remove)
  }

  io.idle := !change.request.valid && !io.refused.valid
}
