import { type Params, p } from '../author/params.ts'
import type { Catalogue } from './describe.ts'

type Fields = Readonly<Record<string, unknown>>
const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const texts = (value: unknown): readonly string[] | undefined => {
  if (value === null || value === undefined) return []
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

/** The catalogue of a Python minion, from what its `sys.argspec` says: names of functions and arguments, no types. */
export function catalogueOfArgspecs(value: unknown): Catalogue | undefined {
  if (!isMap(value)) return undefined
  const functions = Object.entries(value).map(([name, spec]) => [name, paramsOf(spec)] as const)
  return { python: true, functions: Object.fromEntries(functions), missing: {} }
}

function paramsOf(spec: unknown): Params | null {
  const names = isMap(spec) ? texts(spec.args) : undefined
  if (!isMap(spec) || !names || names.includes('__proto__')) return null
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
