// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.Vlan
import downbeat.wire.{FrameBeat, LaunchMode, TransmitBeat}
import spinal.core._
import spinal.lib._

/** Merges three streams of frames into one: immediate frames first, then data and bypass frames in turn. It tags
  * those of a VLAN, and counts the frames that leave.
  *
  * A register holds the owner of the wire. It changes between frames, and only if another stream waits: frames of one
  * stream follow each other without a gap. After an immediate frame it keeps its value for a clock, in case another one
  * follows.
  */
case class TransmitMerge(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val vlans = (config.vlans > 0) generate in(Vec.fill(config.vlans)(Vlan()))
    val immediate = slave(Stream(TransmitBeat(config.vlanBits, config.beatBytes)))
    val data = slave(Stream(TransmitBeat(config.vlanBits, config.beatBytes)))
    val bypass = slave(Stream(FrameBeat(config.vlanBits, config.beatBytes)))
    val wire = master(Stream(TransmitBeat(bytes = config.beatBytes)))
    val framesSent = out UInt (32 bits)
    val bytesSent = out UInt (32 bits) // without FCS
    val idle = out Bool ()
  }
  noIoPrefix()

  private val bypass = io.bypass.map { frame =>
    val beat = TransmitBeat(config.vlanBits, config.beatBytes)
    beat.frame := frame
    beat.mode := LaunchMode.asap
    beat.launch.ns := 0
    beat.launch.fraction := 0
    beat.tag := 0
    beat.lastByte := 0
    beat
  }

  private val lines = Seq(io.immediate, io.data, bypass)
  private val owner = Vec(lines.indices.map(index => RegInit(Bool(index == 0)))) // one-hot
  private val merged = Stream(TransmitBeat(config.vlanBits, config.beatBytes))
  merged.valid := lines.lazyZip(owner).map(_.valid && _).reduce(_ || _)
  merged.payload := MuxOH(owner, lines.map(_.payload))
  for ((line, owns) <- lines.zip(owner)) line.ready := owns && merged.ready

  private val inFrame = RegInit(False)
  when(merged.fire)(inFrame := !merged.frame.last)
  private val bypassTurn = RegInit(False)
  when(merged.fire && !owner(0))(bypassTurn := owner(1))

  private val atEnd = merged.fire && merged.frame.last
  private val unused = !inFrame && !merged.valid
  private val Seq(immediateWaits, dataWaits, bypassWaits) = lines.lazyZip(owner).map(_.valid && !_)
  private def give(index: Int): Unit = for (other <- owner.indices) owner(other) := Bool(other == index)
  when(unused || atEnd && !owner(0)) {
    when(immediateWaits)(give(0))
      .elsewhen(bypassWaits && (bypassTurn || !dataWaits))(give(2))
      .elsewhen(dataWaits)(give(1))
  }

  private val leaving = merged.m2sPipe()
  if (config.vlans > 0) {
    val inserter = VlanTagInserter(config)
    inserter.io.vlans := io.vlans
    inserter.io.frames << leaving
    io.wire << inserter.io.wire
  } else io.wire << leaving

  private val left = RegNext(io.wire.fire, False)
  private val leftLast = RegNextWhen(io.wire.frame.last, io.wire.fire)
  private val leftBytes = RegNextWhen(CountOne(io.wire.frame.keep), io.wire.fire)
  private val frames, bytes = Reg(UInt(32 bits)) init 0
  when(left) {
    bytes := bytes + leftBytes
    frames := frames + U(leftLast)
  }
  io.framesSent := frames
  io.bytesSent := bytes
  io.idle := !leaving.valid && !left
}
