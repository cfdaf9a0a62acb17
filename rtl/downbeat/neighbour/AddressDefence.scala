// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.messages.NextInstant
import downbeat.time.Instant
import spinal.core._
import spinal.lib._

/** Defends our address when another host uses it (RFC 5227 2.4 (b)): keep it and announce it, at most once in
  * DEFEND_INTERVAL.
  */
case class AddressDefence(vlanBits: Int) extends Component {
  val io = new Bundle {
    val now = in(Instant())
    val ip = in UInt (32 bits) // our own
    val conflict = in Bool () // one was seen
    val vlan = in UInt (vlanBits bits) // read with `conflict`
    val announcements = master(Stream(ArpMessage(vlanBits)))
    /** There was one less than an interval ago, or since the last announcement. */
    val active = out Bool ()
    val next = out(NextInstant())
    val idle = out Bool ()
  }
  noIoPrefix()

  private val active, announces = RegInit(False)
  private val until = Reg(Instant())
  private val vlan = RegNextWhen(io.vlan, io.conflict && !active)
  private val over = RegNext(active && io.now.hasReached(until)) init False
  when(over)(active := False)
  when(io.announcements.fire)(announces := False)
  when(io.conflict && !active) {
    active := True
    announces := True
    until := io.now + U(Instant.nanoseconds(AddressDefence.interval), 48 bits)
  }

  io.announcements.valid := announces
  io.announcements.payload := ArpMessage.request(io.ip, vlan)
  io.active := active
  io.next.armed := active
  io.next.at := until
  io.idle := !announces && !over
}

object AddressDefence {
  /** DEFEND_INTERVAL (RFC 5227 1.1). */
  val interval = 10 sec
}
