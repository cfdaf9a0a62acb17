// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import downbeat.config.DownbeatConfig
import downbeat.lib.RegisteredHandshake
import downbeat.messages.{CloseReason, OpenRequest, Refusal}
import spinal.core._
import spinal.lib._

/** The lookup's response for the 4-tuple of an open request. */
case class OpenVerdict() extends Bundle {
  val opened = Bool()
  val found = Bool()
  val listening = Bool()
  /** Start of the search for a port, in response to a request for [[NumberPurpose.port]]. */
  val offset = UInt(OpenSequencer.portBits bits)
}

/** Passes open requests through the lookup one by one, and chooses ephemeral ports (RFC 6056 3.3.3, algorithm 3):
  * {{{ port = 32768 + (hash(local address, remote address, remote port) + n) mod 32768, the next one while it is in use
  * }}} where n counts the ports that were ever tried. For the hash the remote end is first looked up with local port 0,
  * which no connection has. A port is in use if an application listens on it or if the 4-tuple has a connection; two
  * remote ends may share a port.
  *
  * A refusal that the notifier has not taken stalls the next open request only.
  */
case class OpenSequencer(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val opens = slave(Stream(OpenRequest(config)))
    val lookups = master(Stream(FlowTuple(config.vlanBits)))
    /** The request that is looked up, with the port that is being tried. */
    val current = out(OpenRequest(config))
    /** The port was chosen: if the 4-tuple is free, the connection can be made. */
    val ready = out Bool ()
    val ephemeral = out Bool ()
    val verdict = slave(Flow(OpenVerdict()))
    val refused = master(Stream(Refusal(config)))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val request = RegisteredHandshake(io.opens)
  private val ephemeral = request.localPort === 0

  private val requested, chosen = RegInit(False)
  private val offset = Reg(UInt(OpenSequencer.portBits bits)) // the ephemeral port that is tried
  private val tries = Reg(UInt(OpenSequencer.portBits + 1 bits)) // ephemeral ports found in use
  private val tried = Reg(UInt(OpenSequencer.portBits bits)) init 0 // for all requests together

  io.current := request.payload
  io.current.localPort.removeAssignments()
  io.current.localPort := !ephemeral ? request.localPort | (chosen ? (U"1" @@ offset) | U(0, 16 bits))
  io.ready := chosen || !ephemeral
  io.ephemeral := ephemeral

  private val refusal = Stream(Refusal(config))
  private val waiting = refusal.m2sPipe()
  io.refused << waiting

  private val lookups = Stream(FlowTuple(config.vlanBits))
  lookups.valid := request.valid && !requested && !waiting.valid
  lookups.remoteIp := request.remoteIp
  lookups.remotePort := request.remotePort
  lookups.localPort := io.current.localPort
  lookups.vlan := request.vlan
  when(lookups.fire)(requested := True)
  io.lookups << lookups.halfPipe()

  private val verdict = io.verdict.m2sPipe()
  private val inUse = verdict.found || ephemeral && verdict.listening
  private val over = Bool()
  over := False
  refusal.valid := False
  refusal.request := request.request
  refusal.returnsTo(request.parameters)
  refusal.reason := (inUse && !ephemeral) ? CloseReason.addressInUse | CloseReason.outOfResources
  when(verdict.valid) {
    requested := False
    when(verdict.opened) {
      over := True
      tried := tried + U(ephemeral)
    } elsewhen (!io.ready) {
      chosen := True
      offset := verdict.offset + tried
      tries := 0
    } elsewhen (inUse && ephemeral && !tries.msb) {
      offset := offset + 1
      tried := tried + 1
      tries := tries + 1
    } otherwise {
      over := True
      refusal.valid := True
    }
  }
  when(over)(chosen := False)
  request.ready := over
  io.idle := !request.valid && !waiting.valid
}

object OpenSequencer {
  /** The upper half of all ports is ours to choose from: as many as can be (RFC 6056 3.2) of those where nothing well
    * known listens.
    */
  val portBits = 15
}
