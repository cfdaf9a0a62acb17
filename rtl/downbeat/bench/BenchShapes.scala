// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.wire.AxiStream
import spinal.core._
import spinal.lib._

/** Values that a Fragment of a frame carries beside `last`. */
case class BenchPart() extends Bundle {
  val data = Bits(64 bits)
  val keep = Bits(8 bits)
  val tag = Bits(8 bits)
}

/** Test-only module: the other shapes of port that the cocotb bench drives, each passed on by a register or a queue. */
class BenchShapes extends Component {
  val packet = slave(Stream(Fragment(BenchPart())))
  val m_axis = master(AxiStream(64, packet = true, userBits = 8))
  val s_axis = slave(AxiStream(64, packet = true, userBits = 8))
  val back = master(Stream(Fragment(BenchPart())))
  val word = slave(Flow(UInt(12 bits)))
  val words = master(Stream(UInt(12 bits)))

  m_axis.fromStream(packet.m2sPipe()) { beat =>
    m_axis.tdata := beat.fragment.data
    m_axis.tkeep := beat.fragment.keep
    m_axis.tlast := beat.last
    m_axis.tuser := beat.fragment.tag
  }
  back << s_axis.toStream(Fragment(BenchPart())) { beat =>
    beat.fragment.data := s_axis.tdata
    beat.fragment.keep := s_axis.tkeep
    beat.last := s_axis.tlast
    beat.fragment.tag := s_axis.tuser
  }.m2sPipe()
  words << word.toStream.queue(64)
}
