// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** A flow's doorbell or command against what is known of the flow: `view`, in registers. */
class HostFlowCheck(
    config: DownbeatConfig, subject: HostSubject, isDoorbell: Bool, val view: HostView, port: HostPortView)
    extends Area {
  private val owner = subject.port +^ 1
  private val inRange = if (config.flowBits == 16) True else !(subject.flow >> config.flowBits).orR
  val written: Bool = subject.source === HostSource.written
  private val rung = written ? view.writtenRung | view.consumedRung
  private val limit = written ? (view.limits.acknowledged + config.sendBufferBytes) | view.limits.received
  /** Bytes since the last doorbell. */
  val ahead: UInt = subject.value - rung
  private val backwards = ahead.msb
  private val beyond = (limit - subject.value).msb || !written && !view.limits.synchronized
  val isOwn: Bool = view.record.owner === owner.resized
  private val announced = view.limits.heard && view.limits.generation === view.record.generation
  /** Commands before its last doorbell are not done. */
  val waits: Bool = port.running && (port.commandHead - view.record.after).msb
  val error = HostError() // the last that holds
  error := HostError.none
  when(isDoorbell && !view.limits.ended) {
    when(beyond)(error := HostError.beyond)
    when(backwards)(error := HostError.backwards)
    when(written && view.record.shutDown)(error := HostError.shutDown)
  }
  when(view.record.closed || !announced)(error := HostError.notOpen)
  when(subject.generation =/= view.record.generation)(error := HostError.generation)
  when(!isOwn)(error := HostError.owner)
  when(!view.limits.heard)(error := HostError.notOpen)
  when(!inRange)(error := HostError.flow)
  when(subject.reservedSet)(error := HostError.reserved)

  private val unreported = view.writtenRung - view.writtenReported
  private val unreportedUrgent = view.record.urgentEnd - view.writtenReported
  /** The engine has not received all urgent bytes. Valid a clock after `view`, as what follows. */
  val urgent: Bool = RegNext(view.record.urgent && unreportedUrgent.orR && !(unreported < unreportedUrgent))
  /** The engine receives the bytes up to there, and the others afterwards. */
  val writtenEnd: UInt = urgent ? view.record.urgentEnd | view.writtenRung
  val more: Bool = writtenEnd =/= view.writtenRung
  /** Bytes that were rung for, and that the engine receives next. */
  val writtenLength: UInt = writtenEnd - view.writtenReported
  val consumedLength: UInt = view.consumedRung - view.consumedReported
}

/** A ring's index against its ring; valid a clock after `subject`. */
class HostIndexCheck(subject: HostSubject, port: HostPortView) extends Area {
  /** The tail is that of the command ring; else that of the notification ring. */
  val ofTail: Bool = subject.source === HostSource.commandTail
  private val before = ofTail ? port.commandTail | port.notificationHead
  private val space = U(1, 32 bits) |<< port.commandSize
  private val limit = ofTail ? (port.commandHead + space) | port.notificationShown
  val backwards: Bool = RegNext((subject.value - before).msb)
  val beyond: Bool = RegNext((limit - subject.value).msb)
}
