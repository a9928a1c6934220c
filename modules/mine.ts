/** Share values of functions with other minions: the master keeps them (Salt's mine). */
import { type Context, fn, p, type TargetExpression, untyped } from 'salt-ts'
import { parseAddress } from '#internal'
import { proxiesOf } from './_docker/proxies.ts'
import { contains, network } from './_host/ip.ts'
import { entriesOf, isMapping } from './_values/traverse.ts'

const names = (description: string) => p.union(p.string({ description }), p.array(p.string()))

type Fields = Readonly<Record<string, unknown>>

/** A function whose value goes to the mine under a name, from `mine_functions`. */
interface MineFunction {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Fields
  readonly allow: Allowed
}

interface Allowed {
  readonly allow_tgt?: unknown
  readonly allow_tgt_type?: unknown
}

/** Key of the minion's data store that holds its own mine if it has no master (`file_client: local`). */
const LOCAL = 'mine_cache'

/**
 * Call the functions of `mine_functions`, from the configuration and the pillar, and send their values to the mine. A function that is
 * missing or fails is logged and left out. Returns true if the master has stored the values; nothing if there are no functions.
 *
 * @example salt '*' mine.update
 * @example salt '*' mine.update mine_functions='{"test.ping": []}'
 */
export const update = fn(
  {
    clear: p.default(p.described(p.boolean(), 'Remove all other values of this minion.'), false),
    mine_functions: p.optional(p.described(p.any(), 'Functions to call instead: a map, or a list of names.')),
  },
  async ({ clear, mine_functions: given }, context) => {
    const functions = await functionsIn(given, context)
    if (!functions) return null
    const values: Record<string, unknown> = {}
    for (const [name, { fun, args, kwargs, allow }] of functions) {
      const value = await called(fun, args, kwargs, context)
      if (value !== MISSING) values[name] = marked(value, allow)
    }
    return store(values, clear, context)
  },
)

/**
 * Call a function and send its value to the mine, under its own name or another one. Returns false if the function fails.
 *
 * @example salt '*' mine.send test.ping
 * @example salt '*' mine.send here mine_function=test.echo text=hello
 * @example salt '*' mine.send load mine_function=test.ping allow_tgt='web*'
 */
export const send = fn(
  {
    name: p.string({ minLength: 1 }),
    args: p.rest(p.any()),
    kwargs: p.keywords(
      p.described(
        p.any(),
        '`mine_function`: the function to call; `allow_tgt`, `allow_tgt_type`: the minions that may get the value. All others are arguments of the function.',
      ),
    ),
  },
  async ({ name, args, kwargs: { mine_function, allow_tgt, allow_tgt_type, ...given } }, context) => {
    const kwargs = Object.fromEntries(Object.entries(given).filter(([key]) => !key.startsWith('__')))
    const value = await called(String(mine_function ?? name), args, kwargs, context)
    if (value === MISSING) return false
    return store({ [name]: marked(value, { allow_tgt, allow_tgt_type }) }, false, context)
  },
)

/**
 * Return values of other minions from the mine: a map of minion id to value, or for several functions (a list, or text with commas) a
 * map of function to such a map. Minions without a value, and those whose key is gone, are left out.
 *
 * @example salt web1 mine.get '*' test.ping
 * @example salt web1 mine.get 'os:Debian' test.ping,test.version tgt_type=grain
 */
export const get = fn(
  {
    tgt: p.union(p.string(), p.array(p.string())),
    fun: p.any({ description: 'A name, names with commas, or a list of names.' }),
    tgt_type: p.default(p.string(), 'glob'),
    exclude_minion: p.default(p.described(p.boolean(), 'Leave out this minion.'), false),
  },
  async ({ tgt, fun, tgt_type, exclude_minion }, context) => {
    const found = await ask(tgt, fun, tgt_type, context)
    if (!exclude_minion || context.opts.file_client === 'local' || !isMapping(found)) return found
    return Object.fromEntries(entriesOf(found).filter(([key]) => key !== context.id))
  },
)

/**
 * Return the addresses at which the containers of all minions are reached, by image and private port, from the values of
 * `docker.ps` in the mine, which need `host: True`.
 *
 * @example salt web1 mine.get_docker
 * @example salt web1 mine.get_docker interfaces='[eth0, eth1]' cidrs=10.0.0.0/8
 */
export const get_docker = fn(
  {
    interfaces: p.optional(names('Interfaces of the hosts whose addresses are used; else all.')),
    cidrs: p.optional(names('Networks whose addresses are used; else all.')),
    with_container_id: p.default(p.boolean(), false),
  },
  async ({ interfaces, cidrs, with_container_id }, context) => {
    const hosts = await ask('*', 'docker.ps', 'glob', context)
    const networks = [cidrs ?? []].flat().map((cidr) => network(cidr))
    return proxiesOf(isMapping(hosts) ? entriesOf(hosts).map(([, sent]) => sent) : [], {
      interfaces: [interfaces ?? []].flat(),
      isWanted: (one) => {
        const found = parseAddress(one)
        return found !== undefined && (networks.length === 0 || networks.some((net) => contains(net, found)))
      },
      withId: with_container_id,
    })
  },
)

/**
 * Remove the value of a name from this minion's mine.
 *
 * @example salt '*' mine.delete test.ping
 */
const remove = fn({ fun: p.string() }, async ({ fun }, context) => {
  const { id, minion, opts } = context
  if (opts.file_client !== 'local') return minion.request({ cmd: '_mine_delete', id, fun })
  const { [fun]: _, ...others } = await localMine(context)
  return minion.changeData({ put: { [LOCAL]: others } })
})

export { remove as delete }

/**
 * Remove all values of this minion from the mine.
 *
 * @example salt '*' mine.flush
 */
export const flush = fn({}, (_, { id, minion, opts }) =>
  opts.file_client === 'local'
    ? minion.changeData({ put: { [LOCAL]: {} } })
    : minion.request({ cmd: '_mine_flush', id }),
)

/**
 * Return the entries of `mine_functions` whose function this minion has.
 *
 * @example salt '*' mine.valid
 */
export const valid = fn({}, async (_, context) => {
  const configured = await configuredFunctions(context)
  const functions = await functionsIn(configured, context)
  if (!functions) return null
  const found: Record<string, unknown> = {}
  for (const [name, { fun, args, kwargs }] of functions) {
    if (!(await isAvailable(fun, context))) continue
    const named = Object.entries(kwargs).map(([key, value]) => ({ [key]: value }))
    found[name] = fun === name ? configured[name] : { [fun]: [...args, ...named] }
  }
  return found
})

const MISSING = Symbol('missing')

async function configuredFunctions({ call }: Context): Promise<Fields> {
  const found: unknown = await call('config.merge', ['mine_functions', {}])
  return fieldsIn(found)
}

/** Return the entries of a map; none of anything else. */
const fieldsIn = (value: unknown): Fields => (isMapping(value) ? Object.fromEntries(entriesOf(value)) : {})

/** Read functions by name; undefined if there are none. */
async function functionsIn(given: unknown, context: Context): Promise<Map<string, MineFunction> | undefined> {
  const wanted = isEmpty(given) ? await configuredFunctions(context) : given
  const entries: (readonly [string, unknown])[] = Array.isArray(wanted)
    ? wanted.map((name) => [String(name), {}])
    : Object.entries(fieldsIn(wanted))
  if (entries.length === 0) return undefined
  return new Map(entries.map(([name, definition]) => [name, readDefinition(name, definition)]))
}

const isEmpty = (given: unknown): boolean =>
  given === undefined ||
  given === null ||
  given === '' ||
  (Array.isArray(given) && given.length === 0) ||
  (isMapping(given) && entriesOf(given).length === 0)

/** Read what stands beside a name: arguments as a list, in which maps are arguments by name, or as a map. */
function readDefinition(name: string, definition: unknown): MineFunction {
  const items = Array.isArray(definition) ? definition : [definition ?? {}]
  const args = items.filter((item) => !isMapping(item))
  const merged: Fields = Object.assign({}, ...items.map(fieldsIn))
  const { mine_function, allow_tgt, allow_tgt_type, ...kwargs } = merged
  return { fun: String(mine_function ?? name), args, kwargs, allow: { allow_tgt, allow_tgt_type } }
}

async function isAvailable(fun: string, { loader, log }: Context): Promise<boolean> {
  if (await loader.has(fun)) return true
  log.error(`Function ${fun} in mine_functions not available`)
  return false
}

/** Call a function. What it throws is logged. */
async function called(
  fun: string,
  args: readonly unknown[],
  kwargs: Fields,
  context: Context,
): Promise<unknown> {
  if (!(await isAvailable(fun, context))) return MISSING
  try {
    return await context.call(untyped(fun), args, kwargs)
  } catch (error) {
    context.log.error(
      `The function ${fun} failed, so that its value does not go to the mine: ${String(error)}`,
    )
    return MISSING
  }
}

/** Return a value as it goes to the master: with the minions that may get it, if not all may. */
const marked = (value: unknown, { allow_tgt, allow_tgt_type }: Allowed): unknown =>
  allow_tgt
    ? { __data__: value, __saltmine_acl__: 1, allow_tgt, ...(allow_tgt_type ? { allow_tgt_type } : {}) }
    : value

async function store(data: Fields, clear: boolean, context: Context): Promise<unknown> {
  const { id, minion, opts } = context
  if (opts.file_client !== 'local') return minion.request({ cmd: '_mine', id, data, clear })
  const before = clear ? {} : await localMine(context)
  return minion.changeData({ put: { [LOCAL]: { ...before, ...data } } })
}

async function localMine({ minion }: Context): Promise<Fields> {
  return fieldsIn((await minion.readData())[LOCAL])
}

/** Return values of the mine: from the master, or of this minion if it has none. */
async function ask(
  tgt: TargetExpression,
  fun: unknown,
  tgt_type: string,
  context: Context,
): Promise<unknown> {
  if (context.opts.file_client === 'local') return getHere(tgt, fun, tgt_type, context)
  return context.minion.request({ cmd: '_mine_get', id: context.id, tgt, fun, tgt_type })
}

async function getHere(
  tgt: TargetExpression,
  fun: unknown,
  tgt_type: string,
  context: Context,
): Promise<unknown> {
  if (!(await context.match(tgt, tgt_type))) return {}
  const names = typeof fun === 'string' ? [...new Set(fun.split(','))] : fun
  if (!Array.isArray(names)) return {}
  const kept = await localMine(context)
  const found = names
    .map(String)
    .flatMap((name) => (name in kept ? [[name, plain(kept[name])] as const] : []))
  if (typeof fun === 'string' && names.length === 1)
    return Object.fromEntries(found.map(([, value]) => [context.id, value]))
  return Object.fromEntries(found.map(([name, value]) => [name, { [context.id]: value }]))
}

/** Return a value without its mark. */
function plain(value: unknown): unknown {
  const fields = fieldsIn(value)
  return '__saltmine_acl__' in fields ? fields.__data__ : value
}
