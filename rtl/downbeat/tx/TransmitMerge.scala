// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.wire.{FrameBeat, LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** One line out of three, frame by frame: immediate frames first, then data and the frames of others in turn. Counts what leaves. */
case class TransmitMerge() extends Component {
  val io = new Bundle {
    val immediate = slave(Stream(TransmitBeat()))
    val data = slave(Stream(TransmitBeat()))
    val bypass = slave(Stream(FrameBeat()))
    val wire = master(Stream(TransmitBeat()))
    val framesSent = out UInt (32 bits)
    val bytesSent = out UInt (32 bits) // without FCS
    val idle = out Bool ()
  }
  noIoPrefix()

  private val bypass = io.bypass.map { frame =>
    val beat = TransmitBeat()
    beat.frame := frame
    beat.mode := LaunchMode.asap
    beat.launch.ns := 0
    beat.launch.fraction := 0
    beat.tag := 0
    beat
  }

  private def wholeFrames(factory: StreamArbiterFactory) = factory.lambdaLock[TransmitBeat](_.frame.last)
  private val inTurn = wholeFrames(StreamArbiterFactory().roundRobin).onArgs(io.data, bypass)
  private val merged = wholeFrames(StreamArbiterFactory().lowerFirst).onArgs(io.immediate, inTurn)
  private val leaving = merged.m2sPipe()
  io.wire << leaving

  private val left = RegNext(leaving.fire, False)
  private val leftLast = RegNextWhen(leaving.frame.last, leaving.fire)
  private val leftBytes = RegNextWhen(CountOne(leaving.frame.keep), leaving.fire)
  private val frames, bytes = Reg(UInt(32 bits)) init 0
  when(left) {
    bytes := bytes + leftBytes
    frames := frames + U(leftLast)
  }
  io.framesSent := frames
  io.bytesSent := bytes
  io.idle := !leaving.valid && !left
}
