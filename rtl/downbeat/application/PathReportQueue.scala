// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.messages.PathReport
import spinal.core._
import spinal.lib._

/** Gives the application the path reports of its connections, the newest of each: a slow one misses none that would
  * still count.
  */
case class PathReportQueue(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** Those of one flow at least eight clocks apart. */
    val reports = slave(Flow(PathReport(config)))
    val newest = master(Stream(PathReport(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val queue = StatusQueue[PathReport](config, PathReport(config), _.reference)
  queue.io.status << io.reports
  private val busy = RegInit(False) setWhen queue.io.leaving.valid clearWhen queue.io.newest.valid
  private val waiting = queue.io.newest.toStream.m2sPipe() // one at a time is taken
  queue.io.take := !busy && !waiting.valid && !queue.io.newest.valid && !queue.io.sweeping
  io.newest << waiting

  /** A reader that does not read keeps nothing awake. */
  private val stuck = waiting.valid && !io.newest.ready
  io.idle := !queue.io.sweeping && !busy && (stuck || queue.io.empty && !waiting.valid)
}
