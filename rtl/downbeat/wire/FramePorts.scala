// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._
import spinal.lib._

/** Frames at AXI4-Stream ports: how the beats of a frame lie in TDATA, TKEEP, TLAST and TUSER. Each layout is read and
  * written here, so that the core's ports and the MAC's agree.
  */
object FramePorts {
  def readFrames(port: AxiStream): Stream[FrameBeat] =
    port.toStream(FrameBeat(bytes = bytesOf(port)))(readFrame(port, _))

  /** TUSER: 63..0 stamp, 64 error. */
  def readReceived(port: AxiStream): Stream[ReceivedBeat] = port.toStream(ReceivedBeat(bytesOf(port))) { beat =>
    readFrame(port, beat.frame)
    beat.stamp.assignFromBits(port.tuser(63 downto 0))
    beat.error := port.tuser(64)
  }
  def writeReceived(port: AxiStream, beats: Stream[ReceivedBeat]): Unit = port.fromStream(beats) { beat =>
    writeFrame(port, beat.frame)
    port.tuser := beat.error ## beat.stamp.asBits
  }

  /** TUSER: 63..0 launch, 65..64 mode, 81..66 tag, 95..82 index of the last byte. */
  def readTransmitted(
      port: AxiStream): Stream[TransmitBeat] = port.toStream(TransmitBeat(bytes = bytesOf(port))) { beat =>
    readFrame(port, beat.frame)
    beat.launch.assignFromBits(port.tuser(63 downto 0))
    beat.mode.assignFromBits(port.tuser(65 downto 64))
    beat.tag.assignFromBits(port.tuser(81 downto 66))
    beat.lastByte.assignFromBits(port.tuser(95 downto 82))
  }
  def writeTransmitted(port: AxiStream, beats: Stream[TransmitBeat]): Unit = port.fromStream(beats) { beat =>
    writeFrame(port, beat.frame)
    port.tuser := beat.lastByte ## beat.tag ## beat.mode.asBits ## beat.launch.asBits
  }

  private def bytesOf(port: AxiStream): Int = port.dataBits / 8
  private def readFrame(port: AxiStream, frame: FrameBeat): Unit = {
    frame.data := port.tdata
    frame.keep := port.tkeep
    frame.last := port.tlast
  }
  private def writeFrame(port: AxiStream, frame: FrameBeat): Unit = {
    port.tdata := frame.data
    port.tkeep := frame.keep
    port.tlast := frame.last
  }
}
