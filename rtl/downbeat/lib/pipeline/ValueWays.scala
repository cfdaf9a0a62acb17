// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.pipeline

import java.util.{Collections, IdentityHashMap}
import spinal.core._
import spinal.core.internals.Expression
import spinal.lib.misc.pipeline._

/** Which values go from which node to which, field by field: from the node that has one to those whose logic looks at it. What nothing
  * looks at goes nowhere.
  */
object ValueWays {
  /** A field of `key` as `source` on node `from`, and as it is to be on each of the nodes that look at it, in their order. */
  case class Way(key: NamedTypeKey, from: Int, source: BaseType, stops: Seq[Stop])
  case class Stop(node: Int, target: BaseType)

  /** To be called once, when all logic is placed. */
  def apply(nodes: Seq[Node]): Seq[Way] = {
    val looked: java.util.Set[BaseType] = Collections.newSetFromMap(new IdentityHashMap[BaseType, java.lang.Boolean])
    def look(expression: Expression): Unit = expression match {
      case signal: BaseType => looked.add(signal)
      case _ =>
    }
    Component.current.dslBody.walkStatements(_.walkDrivingExpressions(look))
    for {
      key <- nodes.flatMap(_.keyToData.keys).distinct
      holders = nodes.indices.filter(nodes(_).keyToData.contains(key))
      field <- nodes(holders.head)(key).flatten.indices
    } yield {
      def on(node: Int): BaseType = nodes(node)(key).flatten(field)
      val (stops, strangers) = holders.tail.partition(node => looked.contains(on(node)))
      strangers.foreach(on(_).assignDontCare())
      Way(key, holders.head, on(holders.head), stops.map(node => Stop(node, on(node))))
    }
  }
}
