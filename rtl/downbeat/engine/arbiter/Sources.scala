// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.calculation.{CalculatedEvent, EstimatedEvent, MeasuredEvent}
import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.{EngineEvent, ReturnEvent}
import downbeat.messages.{
  ApplicationEvent, DepartedEvent, DirectoryEvent, EventKind, GrantEvent, IcmpErrorKind, PlacedEvent, PolicyChange,
  TimerEvent
}
import spinal.core._
import spinal.lib._

/** Makes events of each source's own words. */
class Sources(config: DownbeatConfig) {
  private def source[T <: Data](stream: Stream[T], kind: SpinalEnumElement[EventKind.type])(
      fill: (T, EngineEvent) => Unit): EventSource =
    EventSource(stream.map(_.asBits),
      bits =>
        FilledEvent(config) { event =>
          event.kind := kind
          fill(bits.as(stream.payload), event)
        })

  def directory(stream: Stream[DirectoryEvent]): EventSource = source(stream, EventKind.segment) { (word, event) =>
    when(word.icmpError === IcmpErrorKind.unreachable)(event.kind := EventKind.unreachable)
    when(word.icmpError === IcmpErrorKind.tooBig)(event.kind := EventKind.tooBig)
    when(word.open)(event.kind := EventKind.open)
    event.reference := word.reference
    event.fresh := word.fresh
    event.cookie := word.cookie
    event.sequence := word.sequence
    event.acknowledgment := word.acknowledgment
    event.flags := word.flags
    event.window.value := word.open ? U(0, 16 bits) | word.window
    event.urgentPointer := word.urgentPointer
    event.options := word.options
    event.length := word.length.resized
    event.payload := word.payload
    event.congestionExperienced := word.congestionExperienced
    event.stamp := word.stamp
    event.parameters := word.parameters
    event.initialSequence := word.initialSequence
    event.timestampOffset := word.timestampOffset
  }

  def placed(stream: Stream[PlacedEvent]): EventSource = source(stream, EventKind.placed) { (word, event) =>
    event.reference := word.reference
    event.sequence := word.sequence
    event.length := word.length.resized
    event.flags.fin := word.fin
    event.memoryError := word.memoryError
  }

  def application(stream: Stream[ApplicationEvent]): EventSource = source(stream, EventKind.written) { (word, event) =>
    event.kind := word.kind
    event.reference.flow := word.flow
    event.length := word.length
    event.flags.urg := word.urgent
    event.memoryError := word.memoryError
  }

  def grant(stream: Stream[GrantEvent]): EventSource = source(stream, EventKind.grant) { (word, event) =>
    event.reference := word.reference
    event.mode := word.mode
    event.stamp := word.launch
  }

  def returned(stream: Stream[ReturnEvent]): EventSource = source(stream, EventKind.sent) { (word, event) =>
    when(word.failed)(event.kind := EventKind.failed)
    if (config.ecc) event.memoryError := word.memoryError
    event.reference := word.reference
    event.sequence := word.sequence
    event.length := word.length.resized
    event.flags.syn := word.syn
    event.flags.fin := word.fin
    event.acknowledgment := word.acknowledgment
    event.window.value := word.window
    event.probe := word.probe
    event.begins := word.begins
    event.halfWay := word.halfWay
  }

  def departed(stream: Stream[DepartedEvent]): EventSource = source(stream, EventKind.departed) { (word, event) =>
    event.reference := word.reference
    event.sequence := word.end
    event.stamp := word.stamp
    event.late := word.late
  }

  def policies(stream: Stream[PolicyChange]): EventSource = source(stream, EventKind.setPolicies) { (word, event) =>
    event.reference.flow := word.flow
    event.parameters.startup := word.startup
    event.parameters.steady := word.steady
    event.parameters.startupArgument := word.startupArgument
    event.parameters.steadyArgument := word.steadyArgument
    if (config.hostStart) {
      when(word.begins)(event.kind := EventKind.start)
      event.parameters.ssthresh := word.ssthresh
      event.parameters.start := word.start
      if (config.hostPorts > 0) event.parameters.owner := word.owner
    }
  }

  def calculated(stream: Stream[CalculatedEvent]): EventSource = source(stream, EventKind.calculated) { (word, event) =>
    event.reference := word.reference
    event.calculated := word.calculated
  }

  def estimated(stream: Stream[EstimatedEvent]): EventSource = source(stream, EventKind.estimated) { (word, event) =>
    event.reference := word.reference
    event.rates := word.rates
  }

  def measured(stream: Stream[MeasuredEvent]): EventSource = source(stream, EventKind.measured) { (word, event) =>
    event.reference := word.reference
    event.inline := word.result
  }

  def timer(stream: Stream[TimerEvent]): EventSource = source(stream, EventKind.timer) { (word, event) =>
    event.reference := word.reference
  }
}
