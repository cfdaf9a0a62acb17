// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.config.DownbeatConfig
import downbeat.messages.{Command, Notification, TraceRecord}
import spinal.core._

/** Test-only module: bundles as fields and as bits, to hold the generated layout against. */
case class LayoutBench(config: DownbeatConfig) extends Component {
  val command = in(Command(config))
  val notification = in(Notification(config))
  val traceRecord = in(TraceRecord(config))
  val commandBits = out(command.asBits)
  val notificationBits = out(notification.asBits)
  val traceRecordBits = out(traceRecord.asBits)
}
