/** Read values from the minion's configuration, grains and pillar. */

import { type Context, fn, p } from 'salt-ts'
import { fnmatch } from '#internal'
import { defaults } from './_config/defaults.ts'
import { masked } from './_config/mask.ts'
import { placeOf } from './_sdb/address.ts'
import { mergeDeep } from './_values/merge.ts'
import { textOnly } from './_values/text-only.ts'
import { entriesOf, isMapping, type Mapping, traverse } from './_values/traverse.ts'

const SCHEMES = new Set(['salt', 'file', 'http', 'https', 'ftp', 'swift', 's3'])
const MISSING = Symbol('missing')
const omit = p.default(p.boolean(), false)

interface Omissions {
  readonly omit_opts: boolean
  readonly omit_grains: boolean
  readonly omit_pillar: boolean
  readonly omit_master: boolean
}

/**
 * Return the value of a key, which may be nested in maps and lists: from the configuration, else the grains, else the
 * pillar, else the master's configuration in the pillar, else a default. `merge` (recurse or overwrite) merges the maps
 * of all sources instead. For a value `sdb://PROFILE/KEY` returns what `sdb.get` does.
 *
 * @example salt '*' config.get pkg:apache
 * @example salt '*' config.get lxc.container_profile:centos merge=recurse
 */
export const get = fn(
  {
    key: p.string(),
    default: p.default(p.any(), ''),
    delimiter: p.default(p.string(), ':'),
    merge: p.optional(p.string()),
    omit_opts: omit,
    omit_pillar: omit,
    omit_master: omit,
    omit_grains: omit,
  },
  ({ key, default: fallback, delimiter, merge, ...omissions }, context) => {
    const given = sourcesOf(context, omissions)
    const sources = merge === undefined ? given : [joined(given, merge, context)]
    const values = sources.map((source) => traverse(source, key, MISSING, delimiter))
    const found = values.find((value) => value !== MISSING && value !== undefined)
    return found === undefined ? fallback : resolved(found, context)
  },
)

/**
 * Return the value of a top-level key from the configuration, the grains, the pillar or the master's configuration, else
 * a default. With `wildcard`, return a map of all keys that match a glob.
 *
 * @example salt '*' config.option redis.host
 * @example salt '*' config.option 'redis.*' wildcard=True
 */
export const option = fn(
  {
    value: p.string(),
    default: p.optional(p.any()),
    omit_opts: omit,
    omit_grains: omit,
    omit_pillar: omit,
    omit_master: omit,
    omit_all: omit,
    wildcard: omit,
  },
  ({ value, default: fallback, wildcard, omit_all, ...omissions }, context) => {
    const sources = omit_all ? [defaults] : sourcesOf(context, omissions)
    if (!wildcard) return withDefault(firstWith(sources, value), fallback ?? '')
    const matching = sources
      .toReversed()
      .flatMap((source) => entriesOf(source).filter(([key]) => fnmatch(key, value)))
    return matching.length > 0 ? Object.fromEntries(matching) : (fallback ?? {})
  },
)

/**
 * Return the values of a key in the configuration, the master's configuration and the pillar, merged if they are maps or
 * lists. If the first value is a string, only that is returned.
 *
 * @example salt '*' config.merge schedule
 */
export const merge = fn(
  {
    value: p.string(),
    default: p.default(p.any(), ''),
    omit_opts: omit,
    omit_master: omit,
    omit_pillar: omit,
  },
  ({ value, default: fallback, omit_opts, omit_master, omit_pillar }, { opts, pillar }) => {
    const sources = [
      ...(omit_opts ? [] : [opts]),
      ...(omit_master ? [] : [masterOf(pillar)]),
      ...(omit_pillar ? [] : [pillar]),
    ]
    const values = sources.map((source) => firstWith([source], value)).filter((found) => found !== undefined)
    const [first, ...rest] = values
    if (first === undefined || first === null) return firstWith([defaults], value) ?? fallback
    return typeof first === 'string' ? first : rest.reduce(joinUnder, first)
  },
)

/**
 * Return the keys of the configuration, and of the master's configuration in the pillar, that begin with a prefix and a
 * dot, with their values.
 *
 * @example salt '*' config.dot_vals host
 */
export const dot_vals = fn({ value: p.string() }, ({ value }, { opts, pillar }) => {
  const all = [...entriesOf(masterOf(pillar)), ...entriesOf(opts)]
  return Object.fromEntries(all.filter(([key]) => key.startsWith(`${value}.`)))
})

/**
 * Return the whole configuration of the minion. Passwords, tokens and other secrets are masked.
 *
 * @example salt '*' config.items
 */
export const items = fn((_, { opts }) => masked(opts))

/**
 * Return the backup mode: the one given, or that of the configuration.
 *
 * @example salt '*' config.backup_mode
 */
export const backup_mode = fn({ backup: p.default(p.string(), '') }, ({ backup }, context) =>
  backup === '' ? (firstWith(sourcesOf(context), 'backup_mode') ?? '') : backup,
)

/**
 * Return a file mode as a string of four digits; null for null.
 *
 * @example salt '*' config.manage_mode 644
 */
export const manage_mode = fn({ mode: p.nullable(p.union(p.string(), p.integer())) }, ({ mode }) =>
  mode === null
    ? null
    : String(mode)
        .replace('0o', '0')
        .replace(/^["']+|["']+$/g, '')
        .replace(/^0+/, '')
        .padStart(4, '0'),
)

/**
 * True if the scheme of a URL is one that Salt fetches files from.
 *
 * @example salt '*' config.valid_fileproto salt://path/to/file
 */
export const valid_fileproto = fn({ uri: textOnly() }, ({ uri }) =>
  SCHEMES.has(/^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? ''),
)

/**
 * Return the sources of values, the one with the highest precedence first. As in Salt, the configuration has grains and
 * pillar at `grains:…` and `pillar:…`.
 */
function sourcesOf({ opts, grains, pillar }: Context, omissions: Partial<Omissions> = {}): Mapping[] {
  return [
    ...(omissions.omit_opts ? [] : [{ ...opts, grains, pillar }]),
    ...(omissions.omit_grains ? [] : [grains]),
    ...(omissions.omit_pillar ? [] : [pillar]),
    ...(omissions.omit_master ? [] : [masterOf(pillar)]),
    defaults,
  ]
}

const masterOf = ({ master }: Context['pillar']): Mapping => (isMapping(master) ? master : {})

function firstWith(sources: readonly Mapping[], key: string): unknown {
  return sources.flatMap(entriesOf).find(([candidate]) => candidate === key)?.[1]
}

// Null is a value: that of a key which exists and is empty.
const withDefault = (found: unknown, fallback: unknown): unknown => (found === undefined ? fallback : found)

/** Return the value that a URI `sdb://PROFILE/KEY` stands for, or another value as it is. */
function resolved(value: unknown, context: Context): unknown {
  const place = placeOf(value, context)
  return place ? place.driver.get(place.key, place.profile, context) : value
}

function joined(sources: readonly Mapping[], strategy: string, { opts, log }: Context): Mapping {
  if (strategy !== 'recurse' && strategy !== 'overwrite') {
    log.warn(`Unsupported merge strategy '${strategy}'. Falling back to 'recurse'.`)
  }
  const lists = opts.pillar_merge_lists === true
  const over = (below: Mapping, above: Mapping): Mapping =>
    strategy === 'overwrite'
      ? Object.fromEntries([...entriesOf(below), ...entriesOf(above)])
      : mergeDeep(below, above, { lists })
  return sources.toReversed().reduce(over, {})
}

function joinUnder(above: unknown, below: unknown): unknown {
  if (isMapping(above) && isMapping(below))
    return { ...Object.fromEntries(entriesOf(below)), ...Object.fromEntries(entriesOf(above)) }
  return Array.isArray(above) && Array.isArray(below) ? [...above, ...below] : above
}
