import { type Params, p } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import type { Catalogue } from './describe.ts'

const texts = (value: unknown): readonly string[] | undefined => {
  if (value === null || value === undefined) return []
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

/**
 * Make the catalogue of a Python minion from the result of its `sys.argspec`: names of functions and arguments, without
 * types.
 */
export function catalogueOfArgspecs(value: unknown): Catalogue | undefined {
  if (!isRecord(value)) return undefined
  const functions = Object.entries(value).map(([name, spec]) => [name, paramsOf(spec)] as const)
  return { python: true, functions: Object.fromEntries(functions), missing: {} }
}

function paramsOf(spec: unknown): Params | null {
  const names = isRecord(spec) ? texts(spec.args) : undefined
  if (!isRecord(spec) || !names || names.includes('__proto__')) return null
  const defaults = Array.isArray(spec.defaults) ? spec.defaults.length : 0
  const params = names.map(
    (name, index) => [name, index >= names.length - defaults ? p.optional(p.any()) : p.any()] as const,
  )
  const free = (name: string) => (names.includes(name) ? `${name} ` : name)
  return Object.fromEntries([
    ...params,
    ...(spec.varargs ? [[free('args'), p.rest(p.any())] as const] : []),
    ...(spec.kwargs ? [[free('kwargs'), p.keywords(p.any())] as const] : []),
  ])
}
