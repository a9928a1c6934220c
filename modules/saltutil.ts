/** Manage the minion: its jobs, modules, grains, caches and keys. */
import { rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, untyped } from 'salt-ts'
import { fnmatch } from '#internal'
import { listExtensions } from './_saltutil/extensions.ts'
import { syncEvery, syncOf } from './_saltutil/sync.ts'

/**
 * List the jobs that run on this minion, except this one: jid, fun, arg, target, user and pid.
 *
 * @example salt '*' saltutil.running
 */
export const running = fn((_, context) => others(context))

/**
 * Return the job with this jid if it runs on this minion, else an empty map.
 *
 * @example salt '*' saltutil.find_job 20250101123456789012
 */
export const find_job = fn({ jid: p.string() }, async ({ jid }, context) => {
  const jobs = await context.minion.running()
  return jobs.find((job) => job.jid === jid) ?? {}
})

/**
 * List the running jobs whose function matches a glob.
 *
 * @example salt '*' saltutil.is_running 'state.*'
 */
export const is_running = fn({ fun: p.string() }, async ({ fun }, context) => {
  const jobs = await others(context)
  return jobs.filter((job) => [job.fun].flat().some((name) => fnmatch(name, fun)))
})

/** What Salt says, too, where no returns are cached. */
const NO_CACHED_JOB = 'Local jobs cache directory not found; you may need to enable cache_jobs on this minion'

/**
 * Return the cached return of a job, with its load; a message if there is none.
 *
 * @example salt '*' saltutil.find_cached_job 20250101123456789012
 */
export const find_cached_job = fn({ jid: p.string() }, async ({ jid }, context) => {
  return (await context.minion.findCachedJob(jid)) ?? NO_CACHED_JOB
})

/**
 * Send a signal, by number or name, to a job and all processes it started.
 *
 * @example salt '*' saltutil.signal_job 20250101123456789012 15
 * @example salt '*' saltutil.signal_job 20250101123456789012 SIGUSR1
 */
export const signal_job = fn(
  { jid: p.string(), sig: p.union(p.integer(), p.string()) },
  ({ jid, sig }, context) => context.minion.signalJob(jid, signalNumber(sig)),
)

/**
 * Terminate a job (SIGTERM).
 *
 * @example salt '*' saltutil.term_job 20250101123456789012
 */
export const term_job = fn({ jid: p.string() }, ({ jid }, context) =>
  context.minion.signalJob(jid, constants.signals.SIGTERM),
)

/**
 * Terminate all running jobs (SIGTERM).
 *
 * @example salt '*' saltutil.term_all_jobs
 */
export const term_all_jobs = fn((_, context) => signalAll(constants.signals.SIGTERM, context))

/** Seconds a job has to end by itself before it is killed. */
const grace = p.default(p.number({ minimum: 0, maximum: 60 }), 3)

/**
 * Kill a job and all processes it started (SIGKILL). Its function is asked to stop first, and has `grace` seconds to
 * clean up.
 *
 * @example salt '*' saltutil.kill_job 20250101123456789012
 * @example salt '*' saltutil.kill_job 20250101123456789012 grace=0
 */
export const kill_job = fn({ jid: p.string(), grace }, ({ jid, grace }, context) =>
  context.minion.signalJob(jid, constants.signals.SIGKILL, { grace }),
)

/**
 * Cancel a job, or those in a list, that wait for their turn (`process_count_max`). Returns the ids of those; a job that has begun,
 * or is not here, is not among them.
 *
 * @example salt '*' saltutil.cancel_job 20250101123456789012
 */
export const cancel_job = fn({ jid: p.union(p.string(), p.array(p.string())) }, async ({ jid }, context) => {
  const cancelled: string[] = []
  for (const one of [jid].flat()) if (await context.minion.cancelJob(one)) cancelled.push(one)
  return cancelled
})

/**
 * Kill all running jobs (SIGKILL), each as `saltutil.kill_job` does.
 *
 * @example salt '*' saltutil.kill_all_jobs
 */
export const kill_all_jobs = fn({ grace }, ({ grace }, context) =>
  signalAll(constants.signals.SIGKILL, context, { grace }),
)

/**
 * Reload all modules. The next job uses the new code; running jobs finish with the old code.
 *
 * @example salt '*' saltutil.refresh_modules
 */
export const refresh_modules = fn({ async: p.default(p.boolean(), true) }, (_, context) =>
  context.minion.refreshModules(),
)

/**
 * Collect the grains again and send them to the master.
 *
 * @example salt '*' saltutil.refresh_grains
 */
export const refresh_grains = fn(
  { refresh_pillar: p.default(p.boolean(), true), clean_pillar_cache: p.default(p.boolean(), false) },
  async (_, context) => {
    await context.minion.refreshGrains()
    return true
  },
)

/**
 * Collect the grains, send them to the master and fetch the pillar again. Returns when the next job has the new pillar. False if
 * no minion runs here.
 *
 * @example salt '*' saltutil.refresh_pillar
 * @example salt '*' saltutil.refresh_pillar wait=True timeout=60
 */
export const refresh_pillar = fn(
  {
    wait: p.default(p.boolean(), false),
    timeout: p.default(p.number({ minimum: 0 }), 30),
    clean_cache: p.default(p.boolean(), true),
  },
  (_, context) => context.minion.refreshGrains(),
)
export { refresh_pillar as pillar_refresh }

/**
 * Fire an event on the minion's bus to have beacons reloaded.
 *
 * @example salt '*' saltutil.refresh_beacons
 */
export const refresh_beacons = fn((_, context) => fired('beacons_refresh', context))

/**
 * Fire an event on the minion's bus to have matchers reloaded.
 *
 * @example salt '*' saltutil.refresh_matchers
 */
export const refresh_matchers = fn((_, context) => fired('matchers_refresh', context))

/**
 * Remove the minion's cached jobs and fetched files. Returns that are not delivered yet are kept.
 *
 * @example salt '*' saltutil.clear_cache
 */
export const clear_cache = fn(async (_, { opts, minion }) => {
  for (const folder of ['files', 'localfiles', 'extrn_files'])
    await rm(join(String(opts.cachedir), folder), { recursive: true, force: true })
  return minion.clearJobCache(0)
})

/**
 * Remove cached jobs that are older than `hours`.
 *
 * @example salt '*' saltutil.clear_job_cache hours=12
 */
export const clear_job_cache = fn({ hours: p.default(p.number({ minimum: 0 }), 24) }, ({ hours }, context) =>
  context.minion.clearJobCache(hours),
)

/**
 * Remove the minion's key pair. At its next start the minion generates a new one, which has to be accepted again. The
 * stored key of the master is kept.
 *
 * @example salt '*' saltutil.regen_keys
 */
export const regen_keys = fn(async (_, context) => {
  const folder = context.opts.pki_dir
  if (typeof folder !== 'string')
    throw new SaltInvocationError('The minion has no pki_dir, so it has no keys')
  for (const name of ['minion.pem', 'minion.pub']) await rm(join(folder, name), { force: true })
  return true
})

/**
 * Ask the master to delete this minion's key. The master then no longer accepts the minion.
 *
 * @example salt '*' saltutil.revoke_auth
 */
export const revoke_auth = fn(
  { preserve_minion_cache: p.default(p.boolean(), false) },
  async (args, context) => {
    const { preserve_minion_cache } = args
    try {
      return (
        (await context.minion.request({ cmd: 'revoke_auth', id: context.id, preserve_minion_cache })) !==
        false
      )
    } catch (cause) {
      context.log.error(
        `The master did not revoke the key: ${cause instanceof Error ? cause.message : cause}`,
      )
      return false
    }
  },
)

/**
 * List the extensions that were synced to this minion, by type.
 *
 * @example salt '*' saltutil.list_extmods
 */
export const list_extmods = fn((_, context) => listExtensions(context.opts.extension_modules))

/**
 * Copy all types of extensions from the master (`salt://_modules`, `salt://_grains`, …) into `extension_modules`. Returns
 * a list for each type: what was added or changed, then what was removed, then what fails to load, with the reason. The
 * exit code is 1 if anything fails to load. Returns when the next job has the new code. Python files are left to Python
 * minions; everything else is copied, including helpers, `package.json` and `node_modules`.
 *
 * @example salt '*' saltutil.sync_all
 * @example salt '*' saltutil.sync_all saltenv=base,dev details=True
 * @example salt '*' saltutil.sync_all extmod_whitelist='{modules: [custom_module]}'
 */
export const sync_all = syncEvery

/** Sync beacons from salt://_beacons; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_beacons */
export const sync_beacons = syncOf('beacons')
/** Sync cloud modules from salt://_clouds; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_clouds */
export const sync_clouds = syncOf('clouds')
/** Sync engines from salt://_engines; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_engines */
export const sync_engines = syncOf('engines')
/** Sync executors from salt://_executors; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_executors */
export const sync_executors = syncOf('executors')
/** Sync grains from salt://_grains; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_grains */
export const sync_grains = syncOf('grains')
/** Sync log handlers from salt://_log_handlers; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_log_handlers */
export const sync_log_handlers = syncOf('log_handlers')
/** Sync matchers from salt://_matchers; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_matchers */
export const sync_matchers = syncOf('matchers')
/** Sync execution modules from salt://_modules; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_modules */
export const sync_modules = syncOf('modules')
/** Sync outputters from salt://_output; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_output */
export const sync_output = syncOf('output')
export { sync_output as sync_outputters }
/** Sync external pillars from salt://_pillar; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_pillar */
export const sync_pillar = syncOf('pillar')
export { sync_pillar as sync_pillars }
/** Sync proxy modules from salt://_proxy; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_proxymodules */
export const sync_proxymodules = syncOf('proxymodules')
/** Sync renderers from salt://_renderers; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_renderers */
export const sync_renderers = syncOf('renderers')
/** Sync returners from salt://_returners; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_returners */
export const sync_returners = syncOf('returners')
/** Sync SDB modules from salt://_sdb; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_sdb */
export const sync_sdb = syncOf('sdb')
/** Sync serializers from salt://_serializers; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_serializers */
export const sync_serializers = syncOf('serializers')
/** Sync states from salt://_states; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_states */
export const sync_states = syncOf('states')
/** Sync Thorium modules from salt://_thorium; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_thorium */
export const sync_thorium = syncOf('thorium')
/** Sync helpers from salt://_utils; see `saltutil.sync_all`.
 *  @example salt '*' saltutil.sync_utils */
export const sync_utils = syncOf('utils')

const rest = { args: p.rest(p.any()), kwargs: p.keywords(p.any()) }
const job = {
  tgt: p.any(),
  fun: p.string(),
  arg: p.default(p.any(), []),
  timeout: p.optional(p.any()),
  tgt_type: p.default(p.string(), 'glob'),
  ret: p.default(p.string(), ''),
  kwarg: p.optional(p.any()),
  ssh: p.default(p.boolean(), false),
  kwargs: p.keywords(p.any()),
}

/**
 * Call a function of this minion. There is no minion of the master as in Salt, with functions of other environments.
 *
 * @example salt '*' saltutil.mmodule base test.ping
 */
export const mmodule = fn(
  { saltenv: p.string(), fun: p.string(), ...rest },
  ({ fun, args, kwargs }, { call }) => call(untyped(fun), args, kwargs),
)

/**
 * Refused: Salt runs jobs here with the files of a master on the same host. Use `publish.publish`, which asks the master.
 *
 * @example salt-call publish.publish '*' test.ping
 */
export const cmd = fn(job, () => onlyOnMaster('saltutil.cmd', 'publish.publish'))

/**
 * Refused, as `saltutil.cmd`.
 *
 * @example salt-call publish.publish '*' test.ping
 */
export const cmd_iter = fn(job, () => onlyOnMaster('saltutil.cmd_iter', 'publish.publish'))

/**
 * Refused: Salt runs runners here with the files of a master on the same host. Use `publish.runner`, which asks the master.
 *
 * @example salt-call publish.runner manage.up
 */
export const runner = fn(
  {
    name: p.string(),
    arg: p.optional(p.any()),
    kwarg: p.optional(p.any()),
    full_return: p.default(p.boolean(), false),
    saltenv: p.default(p.string(), 'base'),
    jid: p.optional(p.any()),
    kwargs: p.keywords(p.any()),
  },
  () => onlyOnMaster('saltutil.runner', 'publish.runner, or salt-run on the master'),
)

/**
 * Refused: Salt calls wheel functions here with the files of a master on the same host.
 *
 * @example salt-key -L
 */
export const wheel = fn({ name: p.string(), ...rest }, () =>
  onlyOnMaster('saltutil.wheel', 'salt-key on the master, or its HTTP API'),
)

/**
 * Return an `_error`: salt-ts does not update itself, as Salt does if it was built with Esky.
 *
 * @example salt '*' saltutil.update
 */
export const update = fn({ version: p.optional(p.string()) }, () => ({
  _error: 'salt-ts does not update itself: install another version with npm',
}))

function onlyOnMaster(fun: string, instead: string): never {
  throw new CommandExecutionError(`${fun} does not run on a minion: use ${instead}`)
}

/** Fire an event on the minion's bus. False if no minion runs here. */
async function fired(tag: string, { minion, log }: Context): Promise<boolean> {
  try {
    return await minion.fire(tag, {})
  } catch (cause) {
    log.warn(`The event ${tag} was not fired: ${cause instanceof Error ? cause.message : cause}`)
    return false
  }
}

async function others({ minion, job }: Context) {
  return (await minion.running()).filter(({ jid }) => jid !== job?.jid)
}

async function signalAll(
  signal: number,
  context: Context,
  options: { readonly grace?: number } = {},
): Promise<string[]> {
  const jobs = await others(context)
  return Promise.all(jobs.map(({ jid }) => context.minion.signalJob(jid, signal, options)))
}

function signalNumber(sig: number | string): number {
  const text = String(sig).toUpperCase()
  if (/^\d+$/.test(text)) return Number(text)
  const known = new Map<string, number>(Object.entries(constants.signals))
  const number = known.get(text) ?? known.get(`SIG${text}`)
  if (number === undefined)
    throw new SaltInvocationError(`There is no signal '${sig}'; use a number or a name such as TERM`)
  return number
}
