// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.WideMemory
import downbeat.lib.ecc.StateMemory
import downbeat.messages.{CloseReason, ConnectionParameters, ListenRequest, Refusal}
import spinal.core._
import spinal.lib._

/** The listening ports, with the parameters of the connections that they accept. */
case class ListenerTable(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val listens = slave(Stream(ListenRequest(config)))
    val refused = master(Stream(Refusal(config)))
    /** A port to look for; `listening` is about what it was two clocks before, `parameters` three. */
    val port = in UInt (16 bits)
    val listening = out Bool ()
    val parameters = out(ConnectionParameters(config))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val used = Vec.fill(config.listeners)(RegInit(False))
  private val ports = Vec.fill(config.listeners)(Reg(UInt(16 bits)))
  private val parameters = WideMemory(StateMemory(config.ecc, ConnectionParameters(config), config.listeners))

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
    /** Another's listener stays. */
    val foreign = Bool()
    val impossible = request.remove ? foreign | (known || !vacant.orR || none)
    private val isReported = if (config.hostPorts == 0) False else request.parameters.owner =/= 0

    val refusal = Stream(Refusal(config))
    refusal.valid := looked && request.valid && (impossible || isReported)
    refusal.request := request.request
    refusal.reason := CloseReason.none
    when(impossible)(refusal.reason := known ? CloseReason.addressInUse() | CloseReason.outOfResources())
    refusal.returnsTo(request.parameters)
    io.refused << refusal.halfPipe()

    request.ready := looked && (!(impossible || isReported) || refusal.ready)
    private val changes = request.fire && !impossible
    for (index <- 0 until config.listeners)
      when(changes && place(index)) {
        used(index) := !request.remove
        ports(index) := request.port
      }
    if (config.hostPorts == 0) foreign := False
    else {
      val owners = Vec.fill(config.listeners)(Reg(UInt(config.ownerBits bits)))
      for (index <- 0 until config.listeners)
        when(changes && place(index))(owners(index) := request.parameters.owner)
      foreign := owners.zip(hits.asBools).map { case (owner, hit) => hit && owner =/= request.parameters.owner }.orR
    }
    parameters.write(OHToUInt(vacant), request.parameters, changes && !request.remove)
  }

  io.idle := !change.request.valid && !io.refused.valid
}
