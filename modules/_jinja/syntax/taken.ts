import type { Parameter, Statement, Taken } from './nodes.ts'

/** Find which of the names that Jinja gives to a macro its body reads, before it sets them itself. */
export function takenBy(parameters: readonly Parameter[], body: readonly Statement[]): Taken {
  const names = new Set(['varargs', 'kwargs', 'caller'])
  const read = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, name } = node as { readonly type?: unknown; readonly name?: unknown }
    if (type === 'block') return
    if (type === 'name' && names.has(name as string)) read.add(name as string)
    if (type === 'target' || type === 'parameter') names.delete(name as string)
    for (const inner of Object.values(node)) visit(inner)
  }
  visit(parameters)
  visit(body)
  return { varargs: read.has('varargs'), kwargs: read.has('kwargs'), caller: read.has('caller') }
}
