// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import scala.collection.mutable
import spinal.core._
import spinal.core.internals._

/** Lists the clock-domain crossings of an elaborated component, a row of a table for each: the register (or memory read
  * port) that takes the value, the clocks that the value comes from, and the clock of the register. SpinalHDL refuses
  * an undeclared crossing (`crossClockDomain`). This lists the declared crossings, so that lint sees a new one.
  */
object Crossings {
  def rows(top: Component): Seq[String] = {
    val found = mutable.ArrayBuffer[String]()
    def add(name: String, component: Component, from: Set[String], to: ClockDomain): Unit = {
      val components = Iterator.iterate(component)(_.parent).takeWhile(_ != top).map(_.getName()).toSeq.reverse
      val others = from - to.clock.getName()
      val origin = if (others.isEmpty) "reset" else others.toSeq.sorted.mkString(", ")
      if (from.isEmpty || others.nonEmpty)
        found += s"| `${(components :+ name).mkString(".")}` | $origin | ${to.clock.getName()} |"
    }
    GraphUtils.walkAllComponents(top,
      component =>
        component.dslBody.walkStatements {
          case register: BaseType if register.isReg && register.hasTag(crossClockDomain) =>
            add(register.getName(), component, sources(register), register.clockDomain)
          case port: MemReadSync if port.hasTag(crossClockDomain) =>
            val writers = mutable.Set[String]()
            port.mem.foreachStatements {
              case write: MemWrite => writers += write.clockDomain.clock.getName(); case _ =>
            }
            add(port.mem.getName(), component, writers.toSet, port.clockDomain)
          case _ =>
        })
    found.sorted.toSeq
  }

  /** The clocks of the registers and inputs behind a register's input, `no clock` for a pin; none if it only follows
    * its reset.
    */
  private def sources(register: BaseType): Set[String] = {
    val clocks = mutable.Set[String]()
    val seen = mutable.Set[BaseNode](register)
    def walk(node: BaseNode): Unit = if (seen.add(node)) node match {
      case read: MemReadSync => clocks += read.clockDomain.clock.getName()
      case base: BaseType if base.isReg => clocks += base.clockDomain.clock.getName()
      case base: BaseType if base.hasTag(classOf[ClockDomainTag]) =>
        clocks += base.getTag(classOf[ClockDomainTag]).get.clockDomain.clock.getName()
      case pin: BaseType if pin.component.parent == null && pin.isInput => clocks += "no clock"
      case base: BaseType => base.foreachStatements(walkStatement)
      case expression: Expression => expression.foreachDrivingExpression(walk)
    }
    def walkStatement(statement: BaseNode): Unit = statement match {
      case _: InitAssignmentStatement =>
      case assignment: AssignmentStatement =>
        assignment.foreachDrivingExpression(walk)
        assignment.walkParentTreeStatementsUntilRootScope(_.foreachDrivingExpression(walk))
    }
    register.foreachStatements(walkStatement)
    clocks.toSet
  }
}
