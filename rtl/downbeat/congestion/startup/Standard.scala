// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.startup

import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Standard slow start (RFC 5681 3.1). */
object Standard extends StartupPolicy {
  val name = "standard"

  def build(pipe: PolicyPipe): Payload[PolicyResult] = new Composite(pipe) {
    import pipe._

    val slowStart = new SlowStart(pipe)
    val result = Payload(PolicyResult(stateBits))
    new s3.Area {
      result.window := slowStart.windowAfter
      result.policyState := B(0, 0 bits)
    }
  }.result
}
