// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.messages.{LocalNetwork, NextHopMove}
import spinal.core._
import spinal.lib._

/** A flow's connection gets another destination MAC. */
case class MacWrite(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val mac = Bits(48 bits)
}

/** Moves running connections to the MAC address that their next hop has given (RFC 1122 2.3.2.1): it looks at the key of
  * each flow that has ever had a connection, five clocks each, and writes the MAC of those with that next hop. A flow's
  * key that was just being written is read again.
  */
case class NextHopMover(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val localIp = in UInt (32 bits)
    val network = in(LocalNetwork())
    val moves = slave(Stream(NextHopMove(config.vlanBits)))
    /** A connection opens: its key and its MAC are written in the clock behind. */
    val opens = slave(Flow(UInt(config.flowBits bits)))
    val keyRead = master(KeyReadPort(config))
    /** Somebody else reads a key in this clock. */
    val keyBusy = in Bool ()
    val writes = master(Flow(MacWrite(config)))
    val idle = out Bool ()
  }
  noIoPrefix()

  private object Step extends SpinalEnum {
    val idle, read, arrive, compare, judge = newElement()
  }
  private val step = RegInit(Step.idle)
  private val move = RegNextWhen(io.moves.payload, io.moves.fire)
  private val flow = Reg(UInt(config.flowBits bits))
  private val highest = Reg(UInt(config.flowBits bits)) init 0 // flow that has had a connection
  when(io.opens.valid && highest < io.opens.payload)(highest := io.opens.payload)

  private val opened = RegNext(io.opens.valid) init False
  private val disturbed = Reg(Bool())
  disturbed := io.opens.valid || opened || disturbed && step =/= Step.read

  io.keyRead.enable := step === Step.read && !io.keyBusy
  io.keyRead.place := ConnectionPlace.ofFlow(config, flow)

  // The key is there in step `compare`.
  private val tuple = io.keyRead.key.tuple
  private val isOnLink = RegNext(((tuple.remoteIp ^ io.localIp) & io.network.netmask) === 0)
  private val isPeer = RegNext(tuple.remoteIp === move.ip)
  private val isGateway = RegNext(io.network.gateway === move.ip)
  private val sameVlan = RegNext(if (config.vlans > 0) tuple.vlan === move.vlan else True)

  private val clean = !disturbed && !opened && !io.opens.valid
  io.writes.valid := step === Step.judge && clean && sameVlan && (isOnLink ? isPeer | isGateway)
  io.writes.flow := flow
  io.writes.mac := move.mac

  io.moves.ready := step === Step.idle
  switch(step) {
    is(Step.idle) {
      flow := 0
      when(io.moves.valid)(step := Step.read)
    }
    is(Step.read)(when(io.keyRead.enable)(step := Step.arrive))
    is(Step.arrive)(step := Step.compare)
    is(Step.compare)(step := Step.judge)
    is(Step.judge) {
      step := Step.read
      when(clean) {
        flow := flow + 1
        when(flow === highest)(step := Step.idle)
      }
    }
  }
  io.idle := step === Step.idle && !io.moves.valid
}
