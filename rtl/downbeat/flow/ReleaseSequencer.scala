// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.ecc.ProtectedQueue
import spinal.core._
import spinal.lib._

/** Passes released flows through the lookup one by one: it reads the flow's 4-tuple, and the lookup removes it. */
case class ReleaseSequencer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val released = slave(Flow(UInt(config.flowBits bits)))
    val keyRead = master(KeyReadPort(config))
    /** Somebody else reads a key in this clock. */
    val keyBusy = in Bool ()
    val lookups = master(Stream(FlowTuple(config.vlanBits)))
    val done = in Bool ()
    val idle = out Bool ()
  }
  noIoPrefix()

  // A flow is released once: there is a place for all of them.
  private val queue = ProtectedQueue(config.ecc, UInt(config.flowBits bits), config.flows)
  queue.push.valid := io.released.valid
  queue.push.payload := io.released.payload

  private object Step extends SpinalEnum {
    val idle, read, arrive, request, response = newElement()
  }
  private val step = RegInit(Step.idle)
  private val tuple = Reg(FlowTuple(config.vlanBits))

  io.keyRead.enable := step === Step.idle && queue.pop.valid && !io.keyBusy
  io.keyRead.place := ConnectionPlace.ofFlow(config, queue.pop.payload)
  io.lookups.valid := step === Step.request
  io.lookups.payload := tuple
  queue.pop.ready := io.done

  switch(step) {
    is(Step.idle)(when(io.keyRead.enable)(step := Step.read))
    is(Step.read)(step := Step.arrive)
    is(Step.arrive) {
      tuple := io.keyRead.key.tuple
      step := Step.request
    }
    is(Step.request)(when(io.lookups.ready)(step := Step.response))
    is(Step.response)(when(io.done)(step := Step.idle))
  }
  io.idle := step === Step.idle && queue.occupancy === 0
}
