import type { Params } from '../author/params.ts'
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { checkedValues } from '../loader/index.ts'

export interface OptionSources {
  /** Name of the returner, for messages. */
  readonly name: string
  /** Prefix of its keys: `mysql`, `returner.postgres`. */
  readonly prefix: string
  /** Options of the job (`--return_kwargs`). */
  readonly kwargs?: Fields | undefined
  /** Alternative set of the same keys: `<config>.<prefix>.<key>` (`--return_config`, `ret_config`). */
  readonly config?: string | undefined
  /** Sources of keys in order of precedence: config, grains, pillar of a minion; config of a master. */
  readonly places: readonly Fields[]
}

/**
 * Return the options of a returner, in Salt's order of precedence: `--return_kwargs`, the profile that its option `profile`
 * names, `--return_config`, the configuration (`mysql.host` or `mysql: {host: …}`), defaults.
 * Rejects with SaltError CONFIG_INVALID and the key that is wrong, unknown or missing.
 */
export async function returnerOptions(
  params: Params,
  sources: OptionSources,
): Promise<Record<string, unknown>> {
  const { kwargs = {} } = sources
  refuseUnknown(kwargs, params, `--return_kwargs of the returner ${sources.name}`)
  const given: Record<string, unknown> = { ...kwargs }
  const from: Record<string, string> = Object.fromEntries(
    Object.keys(kwargs).map((key) => [key, `${key} of --return_kwargs`]),
  )
  for (const [prefix, place] of prefixes(sources)) {
    for (const key of Object.keys(params)) {
      if (Object.hasOwn(given, key)) continue
      const value = lookUp(place, `${prefix}${key}`)
      if (value === undefined || value === null) continue
      given[key] = value
      from[key] = `${prefix}${key}`
    }
  }
  const missing = Object.entries(params).find(([key, param]) => !param.optional && !Object.hasOwn(given, key))
  if (missing)
    throw invalid(
      `The returner ${sources.name} needs the option ${sources.prefix}.${missing[0]}; set it in the configuration.`,
      missing[0],
    )
  return checkedValues(given, params, (key, wrong) =>
    invalid(`The returner ${sources.name} cannot be used: ${from[key] ?? key} is wrong: ${wrong}.`, key),
  )
}

/** List prefixes and the sources in which they apply, in order of precedence. */
function* prefixes({ name, prefix, config, places }: OptionSources): Generator<[string, Fields]> {
  const profile = first(places, `${prefix}.profile`) ?? first(places, `${prefix}_profile`)
  if (profile !== undefined) {
    const values = typeof profile === 'string' ? first(places, profile) : profile
    if (!isRecord(values))
      throw invalid(
        `The returner ${name} uses the profile ${String(profile)}, which the configuration does not define. Add it, or correct ${prefix}.profile.`,
        'profile',
      )
    yield ['', withoutPrefix(values, prefix)]
  }
  if (config) for (const place of places) yield [`${config}.${prefix}.`, place]
  for (const place of places) yield [`${prefix}.`, place]
}

/** Remove the prefix of the returner, which keys of a profile may have, as in Salt. */
const withoutPrefix = (values: Fields, prefix: string): Fields =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key.startsWith(`${prefix}.`) ? key.slice(prefix.length + 1) : key,
      value,
    ]),
  )

function first(places: readonly Fields[], path: string): unknown {
  for (const place of places) {
    const value = lookUp(place, path)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** Look up `a.b.c` as one key, or nested at any of the dots. */
function lookUp(place: Fields, path: string): unknown {
  if (Object.hasOwn(place, path)) return place[path]
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot)
    const inner = Object.hasOwn(place, head) ? place[head] : undefined
    const found = isRecord(inner) ? lookUp(inner, path.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function refuseUnknown(values: Fields, params: Params, where: string): void {
  const known = Object.keys(params)
  const unknown = Object.keys(values).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const meant = closest(unknown, known)
  const hint = meant === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean '${meant}'?`
  throw invalid(`There is no option '${unknown}' in ${where}. ${hint}`, unknown)
}

const invalid = (message: string, key: string) => new SaltError('CONFIG_INVALID', message, { key })
