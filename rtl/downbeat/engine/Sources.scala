// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.rx.ReportKind
import spinal.core._
import spinal.lib._

/** How each source's own words become events. */
object Sources {
  private def event(config: DownbeatConfig, kind: SpinalEnumElement[EventKind.type])(fill: EngineEvent => Unit): EngineEvent = {
    val event = EngineEvent(config).allowOverride()
    event.assignFromBits(B(0, event.getBitsWidth bits)) // what is not the kind's is constant: no register is spent on it
    event.kind := kind
    fill(event)
    event
  }

  def directory(stream: Stream[DirectoryEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.segment) { event =>
      when(word.report === ReportKind.unreachable)(event.kind := EventKind.unreachable)
      when(word.report === ReportKind.tooBig)(event.kind := EventKind.tooBig)
      when(word.open)(event.kind := EventKind.open)
      event.reference := word.reference
      event.fresh := word.fresh
      event.sequence := word.sequence
      event.acknowledgment := word.acknowledgment
      event.flags := word.flags
      event.window := word.window
      event.options := word.options
      event.length := word.length.resized
      event.payload := word.payload
      event.stamp := word.stamp
      event.parameters := word.parameters
      event.initialSequence := word.initialSequence
    }
  }

  def placed(stream: Stream[PlacedEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.placed) { event =>
      event.reference := word.reference
      event.length := word.length.resized
      event.flags.fin := word.fin
    }
  }

  def application(stream: Stream[ApplicationEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.written) { event =>
      event.kind := word.kind
      event.reference.flow := word.flow
      event.length := word.length
    }
  }

  def grant(stream: Stream[GrantEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.grant) { event =>
      event.reference := word.reference
      event.stamp := word.launch
    }
  }

  def returned(stream: Stream[ReturnEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.sent) { event =>
      when(word.failed)(event.kind := EventKind.failed)
      event.reference := word.reference
      event.sequence := word.sequence
      event.length := word.length.resized
      event.flags.syn := word.syn
      event.flags.fin := word.fin
    }
  }

  def departed(stream: Stream[DepartedEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.departed) { event =>
      event.reference := word.reference
      event.sequence := word.end
      event.stamp := word.stamp
    }
  }

  def timer(stream: Stream[TimerEvent]): Stream[EngineEvent] = stream.map { word =>
    event(word.config, EventKind.timer)(_.reference := word.reference)
  }
}
