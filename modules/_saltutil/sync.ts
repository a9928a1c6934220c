import { type Context, fn, p, type SyncReport } from 'salt-ts'

const names = p.optional(p.union(p.string(), p.array(p.string())))
/** A list or comma-separated text for all types, or a map of them by type. */
export const modules = p.optional(
  p.union(p.string(), p.array(p.string()), p.record(p.union(p.string(), p.array(p.string())))),
)

export const details = p.default(
  p.boolean({ description: 'Return maps of added, changed, removed and failed extensions.' }),
  false,
)

/** Parameters of every `sync_*` function. */
const params = {
  saltenv: names,
  refresh: p.default(p.boolean({ description: 'Load the changes before returning.' }), true),
  extmod_whitelist: modules,
  extmod_blacklist: modules,
  details,
}

/** Create the `sync_*` function of one type. */
export const syncOf = (type: string) =>
  fn(params, async ({ details, ...how }, context) => {
    const report = await context.minion.sync({ types: [type], ...requestOf(how) })
    return Object.values(answer(report, details, context))[0]
  })

/** Sync all types (`sync_all`). */
export const syncEvery = fn(
  { ...params, clean_pillar_cache: p.default(p.boolean(), false) },
  async ({ details, clean_pillar_cache: _, ...how }, context) =>
    answer(await syncedTypes(requestOf(how), context), details, context),
)

/** Sync all types of a minion. One without a master has pillars of its own, as in Salt. */
async function syncedTypes(
  request: ReturnType<typeof requestOf>,
  { minion, opts }: Context,
): Promise<SyncReport> {
  const report = await minion.sync(request)
  if (opts.file_client !== 'local') return report
  return { ...report, ...(await minion.sync({ types: ['pillar'], ...request })) }
}

type Modules = Parameters<Context['minion']['sync']>[0]['whitelist']

const requestOf = ({
  saltenv,
  refresh,
  extmod_whitelist: whitelist,
  extmod_blacklist: blacklist,
}: {
  saltenv: string | string[] | undefined
  refresh: boolean
  extmod_whitelist: Modules
  extmod_blacklist: Modules
}) => ({ saltenv, refresh, whitelist, blacklist })

/** Return Salt's lists, or all changes with `details`. Sets the retcode to 1 if an extension cannot be used. */
export function answer(report: SyncReport, details: boolean, context: Context): Record<string, unknown> {
  const types = Object.entries(report)
  if (types.some(([, { failed }]) => Object.keys(failed).length > 0)) context.retcode = 1
  return Object.fromEntries(types.map(([type, { lines, ...changes }]) => [type, details ? changes : lines]))
}
