/** Copies extensions from the master's own file server to the master. */
import { fn, p } from 'salt-ts'
import { listExtensions } from '../modules/_saltutil/extensions.ts'
import { answer, details, modules } from '../modules/_saltutil/sync.ts'

/** Parameters of every `sync_*` function. */
const params = {
  saltenv: p.default(p.union(p.string(), p.array(p.string())), 'base'),
  extmod_whitelist: modules,
  extmod_blacklist: modules,
  details,
}

const syncOf = (type: string) =>
  fn(
    params,
    async ({ saltenv, extmod_whitelist: whitelist, extmod_blacklist: blacklist, details }, context) => {
      const report = await context.master.sync({ types: [type], saltenv, whitelist, blacklist })
      return Object.values(answer(report, details, context))[0]
    },
  )

/**
 * Copy all types of extensions from `salt://_runners`, `salt://_output`, … into `extension_modules` of the master.
 * Returns a list for each type: what was added or changed, then what was removed, then what fails to load, with the
 * reason; in the last case the exit code is 1. Runners and outputters are available at once. The master's processes use
 * the other types within seconds, without a restart: processes that have them loaded are replaced, one after another.
 *
 * @example salt-run saltutil.sync_all
 * @example salt-run saltutil.sync_all extmod_whitelist='{runners: [custom_runner], grains: []}'
 */
export const sync_all = fn(
  params,
  async ({ saltenv, extmod_whitelist: whitelist, extmod_blacklist: blacklist, details }, context) =>
    answer(await context.master.sync({ saltenv, whitelist, blacklist }), details, context),
)

/** Sync ways to authenticate from salt://_auth; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_auth */
export const sync_auth = syncOf('auth')
/** Sync caches from salt://_cache; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_cache */
export const sync_cache = syncOf('cache')
/** Sync cloud modules from salt://_clouds; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_clouds */
export const sync_clouds = syncOf('clouds')
/** Sync engines from salt://_engines; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_engines */
export const sync_engines = syncOf('engines')
/** Sync executors from salt://_executors; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_executors */
export const sync_executors = syncOf('executors')
/** Sync file server backends from salt://_fileserver; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_fileserver */
export const sync_fileserver = syncOf('fileserver')
/** Sync grains from salt://_grains; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_grains */
export const sync_grains = syncOf('grains')
/** Sync job caches from salt://_job_caches; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_job_caches */
export const sync_job_caches = syncOf('job_caches')
/** Sync matchers from salt://_matchers; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_matchers */
export const sync_matchers = syncOf('matchers')
/** Sync execution modules from salt://_modules; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_modules */
export const sync_modules = syncOf('modules')
/** Sync outputters from salt://_output; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_output */
export const sync_output = syncOf('output')
export { sync_output as sync_outputters }
/** Sync external pillars from salt://_pillar; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_pillar */
export const sync_pillar = syncOf('pillar')
export { sync_pillar as sync_pillars }
/** Sync proxy modules from salt://_proxy; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_proxymodules */
export const sync_proxymodules = syncOf('proxymodules')
/** Sync queues from salt://_queues; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_queues */
export const sync_queues = syncOf('queues')
/** Sync renderers from salt://_renderers; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_renderers */
export const sync_renderers = syncOf('renderers')
/** Sync returners from salt://_returners; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_returners */
export const sync_returners = syncOf('returners')
/** Sync rosters from salt://_roster; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_roster */
export const sync_roster = syncOf('roster')
/** Sync runners from salt://_runners; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_runners */
export const sync_runners = syncOf('runners')
/** Sync SDB modules from salt://_sdb; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_sdb */
export const sync_sdb = syncOf('sdb')
/** Sync serializers from salt://_serializers; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_serializers */
export const sync_serializers = syncOf('serializers')
/** Sync states from salt://_states; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_states */
export const sync_states = syncOf('states')
/** Sync Thorium modules from salt://_thorium; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_thorium */
export const sync_thorium = syncOf('thorium')
/** Sync stores of tokens from salt://_tokens; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_tokens */
export const sync_tokens = syncOf('tokens')
export { sync_tokens as sync_eauth_tokens }
/** Sync tops from salt://_tops; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_tops */
export const sync_tops = syncOf('tops')
/** Sync helpers from salt://_utils; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_utils */
export const sync_utils = syncOf('utils')
/** Sync wheel modules from salt://_wheel; see `saltutil.sync_all`.
 *  @example salt-run saltutil.sync_wheel */
export const sync_wheel = syncOf('wheel')

/**
 * List the extension files that were synced to this master, by type.
 *
 * @example salt-run saltutil.list_extmods
 */
export const list_extmods = fn((_, { opts }) => listExtensions(opts.extension_modules))
