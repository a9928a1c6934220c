/** Fire events on the event bus of the master or of the minion. */
import { type Context, fn, p } from 'salt-ts'
import { isMapping, type Mapping } from './_values/traverse.ts'

const preload = p.optional(
  p.record(p.any(), { description: 'Keys to add to the request that carries the event.' }),
)
const selection = p.default(p.union(p.boolean(), p.array(p.string())), false)

/**
 * Fire an event on the master's bus, or on the minion's bus if it has no master. True if it was delivered.
 *
 * Further keyword arguments become part of the data. `with_env`, `with_grains` and `with_pillar` add the environment,
 * the grains and the pillar: all of them, or only the keys in a list.
 *
 * @example salt-call event.send myco/mytag foo=Foo bar=Bar
 * @example salt-call event.send 'myco/mytag' '{foo: Foo, bar: Bar}'
 * @example salt-call event.send myco/jenkins/build/success with_env='[BUILD_ID, BUILD_URL, GIT_BRANCH, GIT_COMMIT]'
 */
export const send = fn(
  {
    tag: p.string(),
    data: p.optional(p.any()),
    preload,
    with_env: selection,
    with_grains: selection,
    with_pillar: selection,
    with_env_opts: p.default(p.boolean(), false),
    kwargs: p.keywords(p.any()),
  },
  ({ tag, data, preload, with_env, with_grains, with_pillar, with_env_opts, kwargs }, context) => {
    const { opts, grains, pillar } = context
    const facts = {
      ...chosen('environ', with_env, process.env),
      ...chosen('grains', with_grains, grains),
      ...chosen('pillar', with_pillar, pillar),
      ...(with_env_opts && { saltenv: opts.saltenv ?? 'base', pillarenv: opts.pillarenv ?? null }),
      ...kwargs,
      ...(isMapping(data) && plain(data)),
    }
    return hasNoMaster(opts) ? fireHere(tag, facts, context) : fireAtMaster(tag, facts, preload, context)
  },
)

/**
 * Fire an event on the minion's bus.
 *
 * @example salt '*' event.fire '{"data":"my event data"}' 'tag'
 */
export const fire = fn({ data: p.any(), tag: p.string() }, ({ data, tag }, context) => {
  if (isMapping(data)) return fireHere(tag, plain(data), context)
  context.log.debug(`Event ${tag} could not be fired: its data is no map`)
  return false
})

/**
 * Fire an event on the master's bus.
 *
 * @example salt '*' event.fire_master '{"data":"my event data"}' 'tag'
 */
export const fire_master = fn(
  { data: p.any(), tag: p.string(), preload },
  ({ data, tag, preload }, context) => {
    if (!isLocal(context.opts)) return fireAtMaster(tag, data, preload, context)
    context.log.warn(`Local mode detected. Event with tag ${tag} will NOT be sent.`)
    return false
  },
)

function chosen(name: string, wanted: boolean | readonly string[], all: Readonly<Record<string, unknown>>) {
  if (wanted === false) return {}
  const keys = wanted === true ? Object.keys(all) : wanted.filter((key) => Object.hasOwn(all, key))
  return { [name]: Object.fromEntries(keys.map((key) => [key, all[key]])) }
}

const plain = (mapping: Mapping): object => (mapping instanceof Map ? Object.fromEntries(mapping) : mapping)

function isLocal(opts: Context['opts']): boolean {
  return (opts.local === true || opts.file_client === 'local') && opts.use_master_when_local !== true
}

function hasNoMaster(opts: Context['opts']): boolean {
  return isLocal(opts) || (opts.master_type === 'disable' && opts.use_master_when_local !== true)
}

// As in Salt, an event that cannot be fired returns false; it is not an error.
async function fireHere(tag: string, data: object, { minion, log }: Context): Promise<boolean> {
  try {
    return await minion.fire(tag, data)
  } catch (cause) {
    log.debug(`Event ${tag} could not be fired: ${reasonOf(cause)}`)
    return false
  }
}

async function fireAtMaster(tag: string, data: unknown, extra: object | undefined, context: Context) {
  const { minion, id, log } = context
  try {
    if (!extra) return await minion.fireMaster(tag, data, { pretag: null })
    await minion.request({ ...extra, id, tag, data, cmd: '_minion_event' }) // it adds to an event and makes no other request
    return true
  } catch (cause) {
    log.debug(`Event ${tag} could not be sent to the master: ${reasonOf(cause)}`)
    return false
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
