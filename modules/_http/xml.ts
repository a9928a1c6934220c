import { CommandExecutionError } from 'salt-ts'
import { type Element, rootOf } from '../_values/xml.ts'

/** Elements within each other, as many as Python follows. */
const MAX_DEPTH = 1000

/** Return the elements below the root of a document as Salt does: without attributes. @throws CommandExecutionError */
export function xmlItems(text: string): unknown[] {
  const root = rootOf(text)
  if (!root) throw new CommandExecutionError('The body is not valid XML')
  return root.children.map((child) => itemOf(child, 1))
}

/** An element without children is a map of its name to its text; one with children, a map of their names. */
function itemOf(element: Element, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH)
    throw new CommandExecutionError(`The body has more than ${MAX_DEPTH} elements within each other`)
  if (element.children.length === 0) return { [localName(element)]: textOf(element) }
  const found = new Map<string, unknown>()
  for (const child of element.children) {
    const name = localName(child)
    const known = found.get(name)
    if (Array.isArray(known)) known.push(itemOf(child, depth + 1))
    else if (found.has(name)) found.set(name, [known, itemOf(child, depth + 1)])
    else found.set(name, child.children.length === 0 ? textOf(child) : itemOf(child, depth + 1))
  }
  return Object.fromEntries(found)
}

const textOf = ({ text }: Element): string | null => text || null

const localName = ({ name }: Element): string => name.slice(name.indexOf(':') + 1)
