// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.congestion.Policy

/** Policies from outside the tree (`make POLICY_PATH=...`, docs/tutorials/first-policy.md): the objects that the system property `downbeat.policies`
  * names, as `steady.Name`, with a comma between two.
  */
object OutsidePolicies {
  private val names = sys.props.getOrElse("downbeat.policies", "").split(',').filter(_.nonEmpty).toSeq

  /** Those of a family, `startup` or `steady`, which is their package. */
  def of[P <: Policy](family: String): Seq[P] = names.filter(_.startsWith(s"$family.")).map { name =>
    Class.forName(s"downbeat.congestion.$name$$").getField("MODULE$").get(null).asInstanceOf[P]
  }
}
