/** Helpers for values and files of the state tree. */
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { drawBanner } from './_slsutil/banner.ts'
import { serializerOf } from './_slsutil/serializers.ts'
import { mergeBy, update as mergeUpdate } from './_slsutil/strategies.ts'
import { isEngineOfSalt, renderTemplate } from './_template/index.ts'

const how = {
  strategy: p.default(
    p.string({ description: 'smart, recurse, aggregate, overwrite, list or none.' }),
    'smart',
  ),
  renderer: p.default(p.string(), 'yaml'),
  merge_lists: p.default(p.boolean(), false),
}
const saltenv = p.default(p.string(), 'base')

/**
 * Merge a map into another, recursively. With `merge_lists` lists are joined, without duplicates.
 *
 * @example salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'
 */
export const update = fn(
  {
    dest: p.any(),
    upd: p.any(),
    recursive_update: p.default(p.boolean(), true),
    merge_lists: p.default(p.boolean(), false),
  },
  ({ dest, upd, recursive_update, merge_lists }) => mergeUpdate(dest, upd, recursive_update, merge_lists),
)

/**
 * Merge a value into another by a strategy: `recurse` merges maps at all levels, `overwrite` and `aggregate` only at the
 * first, `list` makes lists of both values.
 *
 * @example salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'
 * @example salt '*' slsutil.merge '{foo: [a]}' '{foo: [b]}' merge_lists=True
 */
export const merge = fn({ obj_a: p.any(), obj_b: p.any(), ...how }, ({ obj_a, obj_b, ...rest }, { log }) =>
  mergeBy(obj_a, obj_b, rest, log),
)

/** A map alone is refused, and not taken as a list of one. */
const maps = p.refine(
  p.any({ description: 'A list of maps.' }),
  Array.isArray,
  'must be a list',
) as ReturnType<typeof p.array<ReturnType<typeof p.any>>>

/**
 * Merge all values of a list into each other, in order.
 *
 * @example salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'
 */
export const merge_all = fn({ lst: maps, ...how }, ({ lst, ...rest }, { log }) =>
  lst.reduce((below, over) => mergeBy(below, over, rest, log), {}),
)

/**
 * Read a file or a text through renderers with `|` between them: `jinja`, then `yaml` or `json`. A first line like `#!jinja|yaml`
 * takes precedence over `default_renderer`. Further keywords are variables of the template.
 *
 * @example salt '*' slsutil.renderer salt://path/to/file.sls
 * @example salt '*' slsutil.renderer string='a: [1, 2]' default_renderer=yaml
 * @example salt '*' slsutil.renderer string='Hello, {{ name }}.' name=world default_renderer=jinja
 */
export const renderer = fn(
  {
    path: p.optional(p.string()),
    string: p.optional(p.string()),
    default_renderer: p.default(p.string(), 'jinja|yaml'),
    kwargs: p.keywords(p.any()),
  },
  async ({ path, string, default_renderer, kwargs }, context) => {
    if (!path && !string) throw new SaltInvocationError('Must pass either path or string')
    if (path && string) throw new SaltInvocationError('Must not pass both path and string')
    const text = string ?? (await contentOf(path as string, String(kwargs.saltenv ?? 'base'), context))
    const [, named] = /^#!(\S+)/.exec(text) ?? []
    return renderPipe(text, named ?? default_renderer, kwargs, context)
  },
)

/**
 * Write a value as text: `json` (with `indent`, `sort_keys`, `separators`, `ensure_ascii`), `yaml` (with `default_flow_style`,
 * `indent`, `sort_keys`, `allow_unicode`), `toml`, `python`, `configparser` (INI), `keyvalue` (with `separator`, `quoting`,
 * `line_ending`) or `msgpack`.
 *
 * @example salt '*' --no-parse=obj slsutil.serialize json obj="{'foo': 'Foo!'}"
 * @example salt '*' slsutil.serialize yaml '{foo: [Foo, Bar]}'
 */
export const serialize = fn(
  { serializer: p.string(), obj: p.any(), mod_kwargs: p.keywords(p.any()) },
  ({ serializer, obj, mod_kwargs }) => serializerOf(serializer).serialize(obj, mod_kwargs),
)

/**
 * Read a value from text: `json`, `yaml`, `toml`, `configparser` (INI), `keyvalue` or `msgpack`.
 *
 * @example salt '*' --no-parse=stream_or_string slsutil.deserialize json stream_or_string='{"foo": "Foo!"}'
 */
export const deserialize = fn(
  { serializer: p.string(), stream_or_string: p.string(), mod_kwargs: p.keywords(p.any()) },
  ({ serializer, stream_or_string, mod_kwargs }) => read(serializer, stream_or_string, mod_kwargs),
)

const MANAGED = 'THIS FILE IS MANAGED BY SALT - DO NOT EDIT'
const UNTOUCHED =
  'The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning.'

/**
 * Return a block of comment lines for the head of a file.
 *
 * @example salt '*' slsutil.banner
 * @example salt '*' slsutil.banner title='Managed by Salt' commentchar='//' width=60 newline=True
 */
export const banner = fn(
  {
    width: p.default(p.integer({ maximum: 10_000 }), 72),
    commentchar: p.default(p.string(), '#'),
    borderchar: p.default(p.string(), '#'),
    blockstart: p.optional(p.string()),
    blockend: p.optional(p.string()),
    title: p.optional(p.string()),
    text: p.optional(p.string()),
    newline: p.default(p.boolean(), false),
  },
  ({ newline, title = MANAGED, text = UNTOUCHED, ...style }) =>
    drawBanner({ ...style, title, text }) + (newline ? '\n' : ''),
)

/**
 * Return one of two texts, by whether a value is true. Zero, empty texts, lists and maps, and null are not.
 *
 * @example salt '*' slsutil.boolstr True yes no
 */
export const boolstr = fn(
  { value: p.any(), true: p.default(p.any(), 'true'), false: p.default(p.any(), 'false') },
  ({ value, true: whenTrue, false: whenFalse }) => (isTrue(value) ? whenTrue : whenFalse),
)

/**
 * Whether the file server has a file.
 *
 * @example salt '*' slsutil.file_exists nginx/defaults.yaml
 */
export const file_exists = fn({ path: p.string(), saltenv }, ({ path, saltenv }, context) =>
  isListed('cp.list_master', path, saltenv, context),
)

/**
 * Whether the file server has a folder.
 *
 * @example salt '*' slsutil.dir_exists nginx/files
 */
export const dir_exists = fn({ path: p.string(), saltenv }, ({ path, saltenv }, context) =>
  isListed('cp.list_master_dirs', path, saltenv, context),
)

/**
 * Whether the file server has a file or folder.
 *
 * @example salt '*' slsutil.path_exists nginx/defaults.yaml
 */
export const path_exists = fn({ path: p.string(), saltenv }, ({ path, saltenv }, context) =>
  isOnServer(path, saltenv, context),
)

/**
 * Find the first of some file names in a folder of the file server, or in the nearest folder above that has one. An empty
 * `startpath` is the root.
 *
 * @example salt '*' slsutil.findup formulas/shared/nginx map.jinja
 */
export const findup = fn(
  { startpath: p.string(), filenames: p.union(p.string(), p.array(p.string())), saltenv },
  async ({ startpath, filenames, saltenv }, context) => {
    let folder = startpath === '' ? '' : posix.normalize(startpath).replace(/(?<=.)\/$/, '')
    if (folder !== '' && !(await isOnServer(folder, saltenv, context)))
      throw new SaltInvocationError(`Starting path not found in the state tree: ${folder}`)
    for (;;) {
      for (const name of [filenames].flat()) {
        const path = posix.join(folder, name)
        if (await isOnServer(path, saltenv, context)) return path
      }
      if (folder === '') throw new CommandExecutionError('File pattern(s) not found in path ancestry')
      folder = folder.includes('/') ? posix.dirname(folder) : ''
    }
  },
)

type ListFunction = 'cp.list_master' | 'cp.list_master_dirs'

async function isOnServer(path: string, saltenv: string, context: Context): Promise<boolean> {
  return (
    (await isListed('cp.list_master', path, saltenv, context)) ||
    (await isListed('cp.list_master_dirs', path, saltenv, context))
  )
}

/** Whether a list of the file server has a path. The list is fetched once for a job. */
async function isListed(list: ListFunction, path: string, saltenv: string, { call, context }: Context) {
  const key = `slsutil:${list}:${saltenv}`
  const paths = (context.get(key) ?? call(list, { saltenv })) as Promise<readonly string[]>
  context.set(key, paths)
  return (await paths).includes(path)
}

async function contentOf(path: string, saltenv: string, context: Context): Promise<string> {
  const cached = await context.call('cp.cache_file', { path, saltenv })
  if (typeof cached !== 'string' || cached === '')
    throw new CommandExecutionError(`${path} is not on the file server.`)
  return readFile(cached, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CommandExecutionError(`${path} cannot be read: ${cause.code}`)
  })
}

async function renderPipe(
  text: string,
  pipe: string,
  { saltenv = 'base', ...variables }: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<unknown> {
  if (text === '') return {}
  let value: unknown = text
  for (const renderer of pipe.split('|').map((name) => name.trim())) {
    const source = String(value)
    if (renderer === 'yaml' || renderer === 'json')
      value = await read(renderer, source.replace(/^#!.*/, ''), {})
    else if (isEngineOfSalt(renderer))
      value = await renderTemplate(source, renderer, { saltenv: String(saltenv), variables }, context)
    else
      throw new CommandExecutionError(
        `The renderer '${renderer}' is not available: there are jinja, yaml and json.`,
      )
  }
  return value
}

async function read(serializer: string, text: string, options: Readonly<Record<string, unknown>>) {
  const { deserialize } = serializerOf(serializer)
  try {
    return await deserialize(text, options)
  } catch (cause) {
    if (cause instanceof CommandExecutionError) throw cause
    throw new CommandExecutionError(`The text is no valid ${serializer}: ${(cause as Error).message}`)
  }
}

function isTrue(value: unknown): boolean {
  if (value instanceof Number) return value.valueOf() !== 0
  if (value instanceof Map) return value.size > 0
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)
}
