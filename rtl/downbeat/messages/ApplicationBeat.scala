// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** One beat of an application's data to send. Byte 0 of the stream is `data(7 downto 0)`; `keep` is contiguous from bit
  * 0, and all ones except in the last beat of a frame. The core gives frames no meaning: TCP is a stream of bytes.
  */
case class ApplicationBeat(config: DownbeatConfig) extends Bundle {
  val data = Bits(config.beatBits bits)
  val keep = Bits(config.beatBytes bits)
  val last = Bool()
  /** The same in all beats of a frame. */
  val flow = UInt(config.flowBits bits)
  /** The data up to the frame's end is urgent (RFC 9293 3.8.5). Read with the last beat. */
  val urgent = Bool()
}

object ApplicationBeat {
  /** Width of the count of a flow's frames. A frame is a word of data at least, and fewer than half as many frames as
    * can be counted are ever in the send buffer.
    */
  val frameCountBits = 8
}

/** Received data on its way to the application. */
case class DeliveredBeat(config: DownbeatConfig) extends Bundle {
  val data = Bits(config.beatBits bits)
  val keep = Bits(config.beatBytes bits)
  val last = Bool()
  val flow = UInt(config.flowBits bits)
  /** The memory did not give all bytes of the frame: discard the frame. Read with the last beat. */
  val error = Bool()
}
