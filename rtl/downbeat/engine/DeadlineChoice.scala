// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.config.DownbeatConfig
import downbeat.engine.pipeline.Signals
import downbeat.messages.Deadline
import spinal.core._
import spinal.lib._
import spinal.lib.misc.pipeline._

/** Chooses the earliest of a connection's deadlines: the protocol stage's, the recovery stage's two and the user timeout.
  * The timers module keeps it.
  *
  * It works while the stages behind recovery do.
  *
  * @param steps the measure stage's
  */
class DeadlineChoice(config: DownbeatConfig, signals: Signals, steps: Seq[Node]) extends Area {
  import signals._
  private val Seq(_, s1, s2, s3, s4, s5) = steps

  private val compareRecovery = new s1.Area {
    val userTimeoutFirst = insert(USER_TIMEOUT_ARMED && USER_TIMEOUT_DEADLINE.isBefore(RECOVERY_DEADLINE))
    /** The early deadline is before both. */
    val earlyFirst = insert(EARLY_ARMED && EARLY_DEADLINE.isBefore(RECOVERY_DEADLINE) &&
      !(USER_TIMEOUT_ARMED && USER_TIMEOUT_DEADLINE.isBefore(EARLY_DEADLINE)))
  }
  private val recovery = new s2.Area {
    val at = insert(Mux(compareRecovery.earlyFirst, apply(EARLY_DEADLINE),
        Mux(compareRecovery.userTimeoutFirst, apply(USER_TIMEOUT_DEADLINE), apply(RECOVERY_DEADLINE))))
  }
  private val compareProtocol = new s3.Area {
    val protocolFirst = insert(PROTOCOL_ARMED && !(RECOVERY_ARMED && recovery.at.isBefore(PROTOCOL_DEADLINE)))
  }
  private val earliest = new s4.Area {
    val at = insert(Mux(compareProtocol.protocolFirst, apply(PROTOCOL_DEADLINE), apply(recovery.at)))
    val armed = insert(PROTOCOL_ARMED || RECOVERY_ARMED)
  }

  val deadline = Flow(Deadline(config))
  new s5.Area {
    deadline.valid := isValid && (LIVE || OPENING)
    deadline.reference.flow := FLOW
    deadline.reference.generation := CONNECTION
    deadline.armed := earliest.armed
    deadline.at := earliest.at
  }
}
