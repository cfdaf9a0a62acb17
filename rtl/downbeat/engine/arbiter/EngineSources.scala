// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.calculation.{CalculatedEvent, EstimatedEvent, MeasuredEvent}
import downbeat.engine.pipeline.ReturnEvent
import downbeat.messages.{
  ApplicationEvent, DepartedEvent, DirectoryEvent, GrantEvent, PlacedEvent, PolicyChange, TimerEvent
}
import spinal.core._
import spinal.lib._

/** The sources of the engine's events. Sources that are rare, or that have time, share a place at the arbiter.
  *
  * @param policies   where the application may choose policies
  * @param returned   the engine's own: what has left the transmit stage
  * @param calculated the engine's own: results of the calculators, where the build has any
  * @param estimated  the engine's own: results of the rate estimator, where the build has one
  * @param measured   the engine's own: results of the inline estimator, where the build has one
  */
class EngineSources(
    directory: Stream[DirectoryEvent], placed: Stream[PlacedEvent], application: Stream[ApplicationEvent],
    grants: Stream[GrantEvent],
    departed: Stream[DepartedEvent], timers: Stream[TimerEvent], policies: Option[Stream[PolicyChange]],
    returned: Stream[ReturnEvent], calculated: Option[Stream[CalculatedEvent]],
    estimated: Option[Stream[EstimatedEvent]], measured: Option[Stream[MeasuredEvent]])
    extends Area {
  private val config = directory.payload.config
  private val make = new Sources(config)
  private def shared(first: EventSource, second: EventSource) = EventSource.shared(config, first, second)

  private val returns = make.returned(returned).registered
  /** Results come before the returns join them: `sent` must be in line before an ACK can follow its frame. */
  private val results = Seq(calculated.map(make.calculated(_)), estimated.map(make.estimated(_)),
    measured.map(make.measured(_))).flatten
  /** Each joins those before it. */
  private val joined =
    results.drop(1).scanLeft(results.headOption)((before, next) => before.map(shared(_, next))).flatten
  /** Events that the engine itself causes. They send nothing, so they generate no return. */
  private val caused = joined.lastOption.fold(returns)(shared(returns, _)).copy(returns = false)
  private val payloadAndApplication = shared(make.placed(placed), make.application(application))
  private val timersAndPolicies =
    policies.fold(make.timer(timers))(changes => shared(make.timer(timers), make.policies(changes)))
  private val departuresAndTimers = shared(make.departed(departed), timersAndPolicies)

  /** The arbiter's sources. */
  val all: Seq[EventSource] =
    Seq(make.directory(directory), payloadAndApplication, make.grant(grants), caused, departuresAndTimers)

  /** A word waits in a register of a shared source, where the port that it came through does not show it. */
  val waiting: Bool =
    payloadAndApplication.words.valid || (if (policies.nonEmpty) timersAndPolicies.words.valid else False) ||
      departuresAndTimers.words.valid || caused.words.valid || returns.words.valid ||
      joined.map(_.words.valid).fold(False)(_ || _)
}
