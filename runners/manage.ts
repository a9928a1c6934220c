/** State of the minions. */

import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  CommandExecutionError,
  type Context,
  fn,
  p,
  SaltInvocationError,
  type TargetExpression,
} from 'salt-ts'
import { acceptByFingers, meaning } from './_manage/accept.ts'
import { connected } from './_manage/connected.ts'
import { tgt, tgt_type } from './_target.ts'

const target = {
  tgt: p.default(tgt, '*'),
  tgt_type,
  timeout: p.optional(p.number({ minimum: 0 })),
  gather_job_timeout: p.optional(p.number({ minimum: 0 })),
}
type Target = {
  tgt: TargetExpression
  tgt_type: string
  timeout: number | undefined
  gather_job_timeout: number | undefined
}

/**
 * List the minions that answer a ping, and those that do not.
 *
 * @example salt-run manage.status tgt='web*' timeout=5
 */
export const status = fn({ output: p.default(p.boolean(), true), ...target }, (args, { master }) =>
  ping(master, args),
)

/**
 * List the minions that answer a ping.
 *
 * @example salt-run manage.up
 */
export const up = fn(target, async (args, { master }) => (await ping(master, args)).up)

/**
 * List the minions that do not answer a ping. With `removekeys=True` their keys are deleted.
 *
 * @example salt-run manage.down
 * @example salt-run manage.down tgt='web*' removekeys=True
 */
export const down = fn(
  { removekeys: p.default(p.boolean(), false), ...target },
  async ({ removekeys, ...args }, { master }) => {
    const ids = (await ping(master, args)).down
    if (removekeys && ids.length > 0) await master.keys.deleteDict({ minions: ids })
    return ids
  },
)

const subset = {
  subset: p.optional(p.union(p.string({ description: 'Ids, separated by commas.' }), p.array(p.string()))),
  show_ip: p.default(p.boolean({ description: 'Add an address from the grains of each minion.' }), false),
}

/**
 * List the minions with a connection to the master, from what the master last saw; nothing is sent to them.
 *
 * @example salt-run manage.present
 * @example salt-run manage.present subset=web1,web2 show_ip=True
 */
export const present = fn(subset, (args, { master }) => connected(master, true, args))

/**
 * List the accepted minions without a connection to the master.
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
 * Compare the versions of the minions with the master's.
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

const REGENERATED = `The keys of the minions and of the master are deleted. Restart salt-master within 60 seconds; the minions
then come back with new keys, which must be accepted again: salt-key -A. Minions that are not connected now
need 'salt-call saltutil.regen_keys'.`

/**
 * Replace all keys. Makes all minions delete their own keys and the master's public key, then deletes the master's keys
 * and those of the minions. The master must be restarted within 60 seconds, and every key accepted again.
 *
 * @example salt-run manage.key_regen
 */
export const key_regen = fn(async (_, { master, opts }) => {
  for await (const _answer of master.run({ tgt: '*', fun: 'saltutil.regen_keys' })) {
    // Minions answer before they delete their keys. The message covers those that do not answer.
  }
  const folder = String(opts.pki_dir)
  const gone = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied', 'master.pem', 'master.pub']
  await Promise.all(gone.map((name) => rm(join(folder, name), { recursive: true, force: true })))
  return REGENERATED
})

/**
 * Accept pending keys whose fingerprints are those that are given (`salt-call --local key.finger` prints it on the minion).
 * Returns the accepted fingerprints and the reasons of the others, each by id. Salt asks the hosts for them through salt-ssh.
 *
 * @example salt-run manage.safe_accept 'web*' fingers='{web1: "9f:5c:…"}'
 */
export const safe_accept = fn(
  {
    target: p.any(),
    tgt_type: p.default(p.enum('glob', 'list'), 'glob'),
    fingers: p.optional(p.record(p.string())),
  },
  ({ target, tgt_type, fingers }, { master }) => {
    if (fingers === undefined)
      throw new SaltInvocationError(
        'Give the fingerprints by id as fingers, as "salt-call --local key.finger" prints them on the minions: salt-ts has no ' +
          'salt-ssh to ask for them. Or let minions join with a token: salt-key --invite.',
      )
    return acceptByFingers(master.keys, meaning(target, tgt_type), fingers)
  },
)

/**
 * Not available. In Salt, installs minions on the hosts of a roster through salt-ssh, which salt-ts does not have.
 *
 * @example salt-run manage.bootstrap hosts=web1,web2
 */
export const bootstrap = fn({ hosts: p.default(p.string(), ''), more: p.keywords(p.any()) }, () => {
  throw new CommandExecutionError(
    'manage.bootstrap needs salt-ssh, which salt-ts does not have yet. Nothing was installed. Install them on ' +
      'the hosts, and let them join with a token: salt-key --invite.',
  )
})

async function ping(master: Context['master'], { tgt, tgt_type, timeout, gather_job_timeout }: Target) {
  const answers = { up: [] as string[], down: [] as string[] }
  const request = {
    tgt,
    tgtType: tgt_type,
    fun: 'test.ping' as const,
    ...(timeout !== undefined && { timeout }),
    ...(gather_job_timeout !== undefined && { gatherJobTimeout: gather_job_timeout }),
  }
  try {
    for await (const { id, missing } of master.run(request))
      answers[missing === undefined ? 'up' : 'down'].push(id)
  } catch (error) {
    // A master without minions has none that are up or down; a target that matches none of several is a mistake.
    if (tgt !== '*' || (error as { code?: unknown }).code !== 'NO_MINIONS_MATCHED') throw error
  }
  return { up: answers.up.sort(), down: answers.down.sort() }
}

function into(groups: Map<string, unknown>, name: string): Record<string, unknown> {
  const group = (groups.get(name) as Record<string, unknown> | undefined) ?? {}
  groups.set(name, group)
  return group
}

/** Compare two versions. Parts between dots are compared as numbers. */
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
