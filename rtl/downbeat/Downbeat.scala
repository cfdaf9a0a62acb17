// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.application.{Command, Notification}
import downbeat.engine.TraceRecord
import downbeat.wire.AxiStream
import spinal.core._
import spinal.lib._

/** The core, from frame stream to frame stream.
  *
  * One clock `clk`, one synchronous active-high `reset`. TDATA byte 0 is the first byte of the wire.
  */
case class Downbeat(config: DownbeatConfig) extends Component {
  setDefinitionName("downbeat")
  val io = new Bundle {
    /** Time: ns in bits 63 to 16, fraction below. Monotone; may jump forward by any amount. */
    val now = in UInt (64 bits)
    /** Nothing moves before `nextDeadline` or an input. */
    val idle = out Bool ()
    /** ns; may be early, never late; all ones: never. */
    val nextDeadline = out UInt (48 bits)

    val local_mac = in Bits (48 bits) // first byte of the wire in bits 47 to 40
    val local_ip = in UInt (32 bits)
    /** Keys the flow hash and the initial sequence numbers; set once, random, before the first connection. */
    val secret = in Bits (64 bits)

    /** Frames from the MAC without FCS. TUSER: 63..0 SFD stamp (first beat), 64 damaged (last beat). */
    val s_axis_wire_rx = slave(AxiStream(64, packet = true, userBits = 65))
    /** Frames to the MAC. TUSER: 63..0 launch time, 65..64 mode (0 at, 1 asap, 2 afterPrevious), 81..66 tag (0: no stamp wanted). */
    val m_axis_wire_tx = master(AxiStream(64, packet = true, userBits = 82))
    /** SFD stamps of tagged frames: TDATA 15..0 tag, 79..16 stamp. */
    val s_axis_departure = slave(AxiStream(80, stalls = false))
    /** Received frames that are not ours, and frames of others to send. */
    val m_axis_bypass_rx = master(AxiStream(64, packet = true, userBits = 65))
    val s_axis_bypass_tx = slave(AxiStream(64, packet = true))

    /** Commands and notifications, one a beat; fields as in downbeat_layout.h. */
    val s_axis_command = slave(AxiStream(Command(config).getBitsWidth))
    val m_axis_notification = master(AxiStream(Notification(config).getBitsWidth))
    /** Application data to send and received; TDEST is the flow. */
    val s_axis_tx = slave(AxiStream(64, packet = true, destBits = config.flowBits))
    val m_axis_rx = master(AxiStream(64, packet = true, destBits = config.flowBits))

    /** One record for each event, in order; leave open if unused. */
    val trace = master(Flow(TraceRecord(config)))
  }
  noIoPrefix()
}
