// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._

/** A field of a bundle's bits: the first one declared is the least significant. */
case class FieldLayout(name: String, offset: Int, width: Int, values: Option[String])

/** The fields of a bundle. A nested field is named by its path: `status_reference_flow`. */
case class BundleLayout(name: String, bits: Int, fields: Seq[FieldLayout])

object BundleLayout {
  def of(name: String, bundle: Bundle): BundleLayout = {
    val fields = flatten(bundle, Nil, 0)
    BundleLayout(name, fields.map(_.width).sum, fields)
  }

  private def flatten(data: Data, path: Seq[String], offset: Int): Seq[FieldLayout] = data match {
    case composite: MultiData =>
      composite.elements.foldLeft(Seq.empty[FieldLayout]) { case (before, (name, element)) =>
        before ++ flatten(element, path :+ name, offset + before.map(_.width).sum)
      }
    case choice: SpinalEnumCraft[_] =>
      Seq(FieldLayout(path.mkString("_"), offset, choice.getBitsWidth, Some(EnumLayout.nameOf(choice.spinalEnum))))
    case leaf if leaf.getBitsWidth == 0 => Nil
    case leaf => Seq(FieldLayout(path.mkString("_"), offset, leaf.getBitsWidth, None))
  }
}

/** An enumeration's elements and their numbers: places, unless it says which. */
case class EnumLayout(name: String, elements: Seq[String], numbers: Option[Seq[Int]] = None) {
  def number(place: Int): Int = numbers.fold(place)(_(place))
}

object EnumLayout {
  def of(enumeration: SpinalEnum): EnumLayout = {
    require(enumeration.defaultEncoding == native, s"${nameOf(enumeration)}: its numbers would not be its positions")
    // Outside a design the elements have no names but those of the object's own values.
    val names = enumeration.getClass.getDeclaredMethods.toSeq
      .filter(method => method.getParameterCount == 0 && method.getReturnType == classOf[SpinalEnumElement[_]])
      .map(method => method.invoke(enumeration).asInstanceOf[SpinalEnumElement[_]].position -> method.getName)
      .sorted
    require(names.map(_._1) == enumeration.elements.indices, s"${nameOf(enumeration)}: an element has no name")
    EnumLayout(nameOf(enumeration), names.map(_._2))
  }

  private[lib] def nameOf(enumeration: SpinalEnum): String = enumeration.getClass.getSimpleName.stripSuffix("$")
}
