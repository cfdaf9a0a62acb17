// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.config.DownbeatConfig
import downbeat.lib.WideMemory
import downbeat.messages.{CloseReason, LocalNetwork, OpenCommand, OpenRequest, Refusal, Vlan}
import spinal.core._
import spinal.lib._

/** Finds the next hop of each open (RFC 1122 3.3.1.1): the peer itself on our network, otherwise the gateway.
  *
  * An open whose next hop must be resolved waits in one of four places, while others pass. When all places are taken
  * the open is refused. An open to an address that cannot be a peer is refused at once: "this" network, loopback,
  * multicast and above, our own address, our network's own and broadcast address, another network without a gateway;
  * likewise one to a VLAN that is not ours. A refusal that the notifier has not taken stalls further opens only.
  */
case class NextHop(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val ip = in UInt (32 bits) // our own
    val network = in(LocalNetwork())
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan()))
    val opens = slave(Stream(OpenCommand(config)))
    val resolved = master(Stream(OpenRequest(config)))
    val refused = master(Stream(Refusal(config)))
    // To and from the table
    val lookups = master(Stream(NextHopAddress(config.vlanBits)))
    val results = slave(Flow(HopResult()))
    val notices = slave(Flow(HopNotice()))
    val idle = out Bool ()
  }
  noIoPrefix()

  private object Step extends SpinalEnum {
    val idle, load, compare, judge, request, response, resolve, refuse = newElement()
  }
  private val step = RegInit(Step.idle)
  private val open = Reg(OpenCommand(config))
  private val mac = Reg(Bits(48 bits))
  private val reason = Reg(CloseReason)

  // ---- the places of those who wait

  private object PlaceState extends SpinalEnum {
    val free, waits, resolved, lost = newElement()
  }
  private case class Place(index: Int) extends Area {
    val state = RegInit(PlaceState.free)
    val entry = Reg(UInt(NeighbourTable.entryBits bits))
    when(io.notices.valid && state === PlaceState.waits && entry === io.notices.entry) {
      state := io.notices.resolved ? PlaceState.resolved | PlaceState.lost
    }
    val woken = state === PlaceState.resolved || state === PlaceState.lost
  }
  private val places = Seq.tabulate(NextHop.places)(Place(_))
  private val waiting = WideMemory(Mem(OpenCommand(config), NextHop.places))
  private val anyWoken = places.map(_.woken).orR
  private val woken = OHToUInt(OHMasking.first(places.map(_.woken)))
  private val lost = Reg(Bool())
  private val wokenOpen = waiting.readSync(woken, step === Step.idle)
  private val free = places.map(_.state === PlaceState.free)

  // ---- one open at a time

  private val peer = open.remoteIp
  private val hostMask = ~io.network.netmask
  private val onLink = RegNext(((peer ^ io.ip) & io.network.netmask) === 0)
  private val isOurs = RegNext(peer === io.ip)
  private val isNobody = RegNext(peer(31 downto 24) === 0 || peer(31 downto 24) === 127 || !(peer(31 downto 24) < 224))
  // With 31 or 32 bits of network every address is a host's (RFC 3021).
  private val isNetwork = RegNext(hostMask(1) && ((peer & hostMask) === 0 || (peer | io.network.netmask).andR))
  private val noGateway = RegNext(io.network.gateway === 0)
  private val noVlan = if (config.vlans > 0) {
    val known = (0 to (1 << config.vlanBits) - 1).map(vlan =>
      if (vlan == 0) True else if (vlan <= config.vlans) io.vlans(vlan - 1).isUsed else False)
    RegNext(!Vec(known)(open.vlan))
  } else False

  io.opens.ready := step === Step.idle && !anyWoken
  switch(step) {
    is(Step.idle) {
      open := io.opens.payload
      lost := places.map(place => place.state === PlaceState.lost).asBits()(woken)
      when(anyWoken) {
        step := Step.load
        for (place <- places) when(woken === place.index)(place.state := PlaceState.free)
      } elsewhen (io.opens.valid)(step := Step.compare)
    }
    is(Step.load) {
      open := wokenOpen
      reason := CloseReason.unreachable
      step := lost ? Step.refuse | Step.compare
    }
    is(Step.compare)(step := Step.judge)
    is(Step.judge) {
      reason := CloseReason.unreachable
      step := (isOurs || isNobody || onLink && isNetwork || !onLink && noGateway || noVlan) ? Step.refuse | Step.request
    }
    is(Step.request)(when(io.lookups.ready)(step := Step.response))
    is(Step.response) {
      when(io.results.valid) {
        mac := io.results.mac
        reason := CloseReason.outOfResources
        step := io.results.found ? Step.resolve | Step.refuse
        when(io.results.pending && free.orR) {
          step := Step.idle
          for ((place, chosen) <- places.zip(OHMasking.first(free))) when(chosen) {
            place.state := PlaceState.waits
            place.entry := io.results.entry
          }
        }
      }
    }
    is(Step.resolve)(when(io.resolved.ready)(step := Step.idle))
    is(Step.refuse)(when(io.refused.ready)(step := Step.idle))
  }
  private val waits = RegNext(step === Step.response && io.results.valid && free.orR) init False
  waiting.write(RegNext(OHToUInt(OHMasking.first(free))), open, waits)

  io.lookups.valid := step === Step.request
  io.lookups.ip := onLink ? peer | io.network.gateway
  io.lookups.vlan := open.vlan
  io.resolved.valid := step === Step.resolve
  io.resolved.payload.assignSomeByName(open)
  io.resolved.remoteMac := mac
  io.refused.valid := step === Step.refuse
  io.refused.request := open.request
  io.refused.reason := reason
  io.refused.returnsTo(open.parameters)
  io.idle := step === Step.idle && !io.opens.valid && !anyWoken
}

object NextHop {
  /** Opens that may wait for a reply at once. */
  val places = 4
}
