import { TemplateError } from './errors.ts'
import type { Scope } from './scope.ts'
import type { Target } from './syntax/nodes.ts'
import { HostObject } from './values/objects.ts'
import { elements } from './values/sequences.ts'

/** Assign a value to a name, to an attribute of a namespace, or its elements to several of them. @throws TemplateError */
export function assign(target: Target, value: unknown, scope: Scope): void {
  if (target.type === 'target') scope.set(target.name, value)
  else if (target.type === 'member') assignMember(target.of, target.name, value, scope)
  else {
    const items = elements(value)
    const { length } = target.items
    if (items.length !== length)
      throw new TemplateError(
        items.length > length
          ? `too many values to unpack (expected ${length})`
          : `not enough values to unpack (expected ${length}, got ${items.length})`,
      )
    for (const [at, each] of target.items.entries()) assign(each, items[at], scope)
  }
}

function assignMember(of: string, name: string, value: unknown, scope: Scope): void {
  const object = scope.get(of)
  if (!(object instanceof HostObject) || !object.parts.assign)
    throw new TemplateError('cannot assign attribute on non-namespace object')
  object.parts.assign(name, value)
}
