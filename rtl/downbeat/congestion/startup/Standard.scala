// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Standard slow start (RFC 5681 3.1). */
object Standard extends StartupPolicy {
  val name = "standard"
  val stateBits = 0

  def build(pipe: PolicyPipe): Payload[PolicyAnswer] = {
    val slowStart = new SlowStart(pipe)
    val result = Payload(PolicyAnswer(stateBits))
    pipe.last(result).policyState := B(0, 0 bits)
    pipe.last(result).window := slowStart.window
    result
  }
}
