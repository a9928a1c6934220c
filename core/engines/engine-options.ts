import type { EnginePlugin } from '../author/engine.ts'
import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { checkedValues } from '../loader/index.ts'
import type { EngineSpec } from './messages.ts'

/**
 * Return the engines of a configuration in order. An entry is a name, or a map of options by name; one map of all engines is accepted
 * too. Several engines of one plugin have different names and the plugin's name as `engine_module`. Invalid entries are reported
 * to `onProblem`.
 */
export function enginesIn(engines: unknown, onProblem: (sentence: string) => void): EngineSpec[] {
  const found = new Map<string, EngineSpec>()
  const entries = Array.isArray(engines) ? engines.flatMap(namedIn) : namedIn(engines)
  for (const [name, given] of entries) {
    if (name === undefined || (given !== null && !isRecord(given))) {
      onProblem(
        `An entry of 'engines' is neither a name nor a name with a map of options: ${JSON.stringify(given)}.`,
      )
      continue
    }
    if (found.has(name)) {
      onProblem(
        `There are several engines called ${name}: give each a different name, and engine_module: ${name}.`,
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
  return isRecord(entry) ? Object.entries(entry) : [[undefined, entry]]
}

/**
 * Return the checked options of an engine. Rejects with SaltError CONFIG_INVALID with the option that is unknown, missing or wrong.
 */
export async function engineOptions(
  { options: params = {} }: EnginePlugin,
  { name, options: given }: EngineSpec,
): Promise<Record<string, unknown>> {
  const known = Object.keys(params)
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw invalid(`it has no option '${unknown}'. Known options: ${known.join(', ') || 'none'}`)
  const missing = known.find((key) => !params[key]?.optional && !Object.hasOwn(given, key))
  if (missing !== undefined) throw invalid(`it needs the option '${missing}' below ${name} in 'engines'`)
  return checkedValues(given, params, (key, wrong) => invalid(`its option ${key} is wrong: ${wrong}`))
}

const invalid = (message: string) => new SaltError('CONFIG_INVALID', `${message}.`)
