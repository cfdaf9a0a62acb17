// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

object CommandKind extends SpinalEnum {
  val open, listen, unlisten, shutdown, close, abort, receive, setPolicies, start, setTimes = newElement()
}

/** A command of an application, one a beat. Fields that a kind does not name are ignored. */
case class Command(config: DownbeatConfig) extends Bundle {
  val kind = CommandKind()
  /** open: comes back in every notification of the connection. open, listen, setPolicies, start: comes back in a
    * refusal.
    */
  val request = UInt(16 bits)
  /** shutdown, close, abort, receive, setPolicies, start, setTimes. */
  val flow = UInt(config.flowBits bits)
  /** receive: bytes to deliver. */
  val length = UInt(32 bits)
  /** open; zero: an ephemeral one is chosen. listen, unlisten. */
  val localPort = UInt(16 bits)
  /** open. */
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  /** open: 0 untagged, n the n-th VLAN. */
  val vlan = UInt(config.vlanBits bits)
  /** open, listen; setPolicies: the policies and their arguments alone. start: these, `ssthresh`
    * and `start`. setTimes: `keepAlive` and `userTimeout`. */
  val parameters = ConnectionParameters(config)
}

/** An open command on its way to its next hop. */
case class OpenCommand(config: DownbeatConfig) extends Bundle {
  val request = UInt(16 bits)
  val localPort = UInt(16 bits)
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val vlan = UInt(config.vlanBits bits)
  val parameters = ConnectionParameters(config)
}
