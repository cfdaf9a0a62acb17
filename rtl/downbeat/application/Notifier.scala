// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.messages.{AddressReadPort, CloseReason, ConnectionAddresses, FlowStatus, Notification, Refusal}
import spinal.core._
import spinal.lib._

/** Notifies the application of the state of its connections. A notification is a level: it shows the newest status of
  * its flow, however slow the application is, and the last one always arrives.
  *
  * The flow's next connection cannot hide the end of one. A flow is released, and so gets its next generation, only
  * after the application has closed the connection, or if the connection was never announced. The engine guarantees
  * this: an announced connection stays until the application closes it.
  */
case class Notifier(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    /** Up to one a clock; those of one flow at least eight clocks apart. */
    val status = slave(Flow(FlowStatus(config)))
    val refused = slave(Stream(Refusal(config)))
    val addressRead = master(AddressReadPort(config))
    val notifications = master(Stream(Notification(config)))
    val idle = out(Bool())
  }
  noIoPrefix()

  private val queue = StatusQueue[FlowStatus](config, FlowStatus(config), _.reference)
  queue.io.status << io.status

  // One at a time, and none waits here for a slow application: it would grow old.
  private val busy = RegInit(False)
  private val next = Stream(Notification(config))
  private val start = !busy && !io.notifications.valid && !queue.io.sweeping
  private val refusing = start && io.refused.valid
  io.refused.ready := refusing
  queue.io.take := start && !io.refused.valid
  when(queue.io.leaving.valid)(busy := True)
  when(queue.io.newest.valid)(busy := False)

  io.addressRead.enable := queue.io.leaving.valid
  io.addressRead.flow := queue.io.leaving.payload
  private val addresses = RegNextWhen(io.addressRead.addresses, RegNext(queue.io.leaving.valid) init False)

  next.valid := refusing || queue.io.newest.valid
  next.refused := !busy
  next.reason := busy ? queue.io.newest.reason | io.refused.reason
  next.status := queue.io.newest.payload
  next.addresses := addresses
  next.addresses.request.removeAssignments()
  next.addresses.request := busy ? addresses.request | io.refused.request
  io.notifications << next.m2sPipe()

  io.idle := !queue.io.sweeping && queue.io.empty && !busy && !io.notifications.valid
}
