/** Which minions are there. */
import { createRequire } from 'node:module'
import { type Context, fn, p, SaltInvocationError } from 'salt-ts'

const target = {
  tgt: p.default(p.any(), '*'),
  tgt_type: p.default(p.string(), 'glob'),
  timeout: p.optional(p.number({ minimum: 0 })),
  gather_job_timeout: p.optional(p.number({ minimum: 0 })),
}
type Target = {
  tgt: unknown
  tgt_type: string
  timeout: number | undefined
  gather_job_timeout: number | undefined
}

/**
 * Minions that answer a ping, and those that do not.
 *
 * @example salt-run manage.status tgt='web*' timeout=5
 */
export const status = fn({ output: p.default(p.boolean(), true), ...target }, (args, { master }) =>
  ping(master, args),
)

/**
 * Minions that answer a ping.
 *
 * @example salt-run manage.up
 */
export const up = fn(target, async (args, { master }) => (await ping(master, args)).up)

/**
 * Minions that do not answer a ping.
 *
 * @example salt-run manage.down
 */
export const down = fn(
  { removekeys: p.default(p.boolean(), false), ...target },
  async ({ removekeys, ...args }, { master }) => {
    if (removekeys)
      throw new SaltInvocationError('removekeys is not there yet; delete the keys with salt-key -d')
    return (await ping(master, args)).down
  },
)

const subset = { subset: p.optional(p.array(p.string())), show_ip: p.default(p.boolean(), false) }

/**
 * Minions with a connection to the master, by what the master last saw; nothing is sent to them.
 *
 * @example salt-run manage.present
 */
export const present = fn(subset, (args, { master }) => connected(master, true, args))

/**
 * Accepted minions without a connection to the master.
 *
 * @example salt-run manage.not_present
 */
export const not_present = fn(subset, (args, { master }) => connected(master, false, args))

export {
  not_present as list_not_state,
  not_present as not_alived,
  not_present as not_allowed,
  not_present as not_joined,
  not_present as not_reaped,
  present as alived,
  present as allowed,
  present as joined,
  present as list_state,
  present as reaped,
}

/**
 * Versions of the minions compared with the master's.
 *
 * @example salt-run manage.versions
 */
export const versions = fn(async (_args, { master }) => {
  const own = (createRequire(import.meta.url)('salt-ts/package.json') as { version: string }).version
  const groups = new Map<string, unknown>([['Master', own]])
  for await (const { id, return: version, missing } of master.run({ tgt: '*', fun: 'test.version' })) {
    if (missing === undefined) into(groups, comparison(String(version), own))[id] = version
    else groups.set('Minion offline', [...((groups.get('Minion offline') as string[] | undefined) ?? []), id])
  }
  return Object.fromEntries(groups)
})

async function ping(master: Context['master'], { tgt, tgt_type, timeout, gather_job_timeout }: Target) {
  const answers = { up: [] as string[], down: [] as string[] }
  const request = {
    tgt,
    tgtType: tgt_type,
    fun: 'test.ping',
    ...(timeout !== undefined && { timeout }),
    ...(gather_job_timeout !== undefined && { gatherJobTimeout: gather_job_timeout }),
  }
  for await (const { id, missing } of master.run(request))
    answers[missing === undefined ? 'up' : 'down'].push(id)
  return { up: answers.up.sort(), down: answers.down.sort() }
}

async function connected(
  master: Context['master'],
  wanted: boolean,
  { subset, show_ip }: { subset: readonly string[] | undefined; show_ip: boolean },
) {
  if (show_ip) throw new SaltInvocationError('show_ip is not there yet; ask the minions for grains.get ipv4')
  const online = new Set(await master.connectedIds())
  const accepted = await master.acceptedIds()
  return accepted.filter((id) => online.has(id) === wanted && (subset?.includes(id) ?? true)).sort()
}

function into(groups: Map<string, unknown>, name: string): Record<string, unknown> {
  const group = (groups.get(name) as Record<string, unknown> | undefined) ?? {}
  groups.set(name, group)
  return group
}

/** Numbers between dots are compared as numbers; the two products count their versions differently. */
function comparison(minion: string, master: string): string {
  const [a, b] = [minion, master].map((version) =>
    version.split(/[.+~-]/).map((part) => Number.parseInt(part, 10) || 0),
  )
  for (let n = 0; n < Math.max(a?.length ?? 0, b?.length ?? 0); n++) {
    const difference = (a?.[n] ?? 0) - (b?.[n] ?? 0)
    if (difference !== 0) return difference < 0 ? 'Minion requires update' : 'Minion newer than master'
  }
  return 'Up to date'
}
