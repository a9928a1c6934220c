import type { EnginePlugin } from '../author/engine.ts'
import { SaltError } from '../base/errors.ts'
import { checkedValues } from '../loader/index.ts'
import type { EngineSpec } from './messages.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The engines of a configuration, in their order: names, or maps name → options; a map of all of them, too. Several of one
 * plugin have names of their own, and its name as `engine_module`. What is neither is told to `onProblem`.
 */
export function enginesIn(engines: unknown, onProblem: (sentence: string) => void): EngineSpec[] {
  const found = new Map<string, EngineSpec>()
  const entries = Array.isArray(engines) ? engines.flatMap(namedIn) : namedIn(engines)
  for (const [name, given] of entries) {
    if (name === undefined || (given !== null && !isFields(given))) {
      onProblem(
        `An entry of 'engines' is neither a name nor a name with a map of options: ${JSON.stringify(given)}.`,
      )
      continue
    }
    if (found.has(name)) {
      onProblem(
        `There are several engines called ${name}: give each a name of its own, and engine_module: ${name}.`,
      )
      continue
    }
    const { engine_module, ...options } = given ?? {}
    found.set(name, { name, plugin: typeof engine_module === 'string' ? engine_module : name, options })
  }
  return [...found.values()]
}

function namedIn(entry: unknown): [name: string | undefined, options: unknown][] {
  if (typeof entry === 'string') return [[entry, null]]
  return isFields(entry) ? Object.entries(entry) : [[undefined, entry]]
}

/** @throws SaltError CONFIG_INVALID naming the option that is unknown, missing or wrong. */
export function engineOptions(
  { options: params = {} }: EnginePlugin,
  { name, options: given }: EngineSpec,
): Record<string, unknown> {
  const known = Object.keys(params)
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw invalid(`it has no option '${unknown}'. It has: ${known.join(', ') || 'none'}`)
  const missing = known.find((key) => !params[key]?.optional && !Object.hasOwn(given, key))
  if (missing !== undefined) throw invalid(`it needs the option '${missing}' below ${name} in 'engines'`)
  return checkedValues(given, params, (key, wrong) => invalid(`its option ${key} is wrong: ${wrong}`))
}

const invalid = (message: string) => new SaltError('CONFIG_INVALID', `${message}.`)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
