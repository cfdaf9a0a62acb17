// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._

/** Link fault signalling, IEEE 802.3 figure 46-9: four sequence ordered sets of one kind, none further than 128 columns
  * of four lanes from the one before, are a fault; 128 columns without one end it.
  */
case class LinkFault() extends Component {
  val io = new Bundle {
    val column = in(XgmiiColumn())
    val local, remote = out Bool ()
  }
  noIoPrefix()

  private case class Progress() extends Bundle {
    val isRemote = Bool() // the kind that is counted
    val count = UInt(3 bits) // stops at four
    val columns = UInt(8 bits) // since the last one; stops at 128
    val local, remote = Bool()
  }

  private def sets(code: Int): Seq[Bool] = Seq(0, 4).map { lane =>
    RegNext(io.column.control(lane, 4 bits) === 1 && io.column.byte(lane) === XgmiiColumn.sequence &&
      io.column.data(8 * lane + 8, 24 bits) === code << 16) init False
  }
  private def next(before: Progress, local: Bool, remote: Bool): Progress = {
    val after = CombInit(before)
    when(local || remote) {
      after.columns := 0
      after.isRemote := remote
      after.count := before.count.msb ? before.count | before.count + 1
      when(before.isRemote =/= remote || before.count === 0)(after.count := 1)
      when(before.isRemote === remote && before.count >= 3) {
        after.local := local
        after.remote := remote
      }
    }.elsewhen(!before.columns.msb) {
      after.columns := before.columns + 1
      when(before.columns === 127) {
        after.count := 0
        after.local := False
        after.remote := False
      }
    }
    after
  }

  private val progress = Reg(Progress())
  private val halves = sets(XgmiiColumn.localFault).zip(sets(XgmiiColumn.remoteFault))
  progress := halves.foldLeft(progress) { case (before, (local, remote)) => next(before, local, remote) }
  progress.count init 0
  progress.columns init 0
  progress.isRemote init False
  progress.local init False
  progress.remote init False
  io.local := progress.local
  io.remote := progress.remote
}
