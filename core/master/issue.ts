import { tags } from '../events/index.ts'
import { component } from '../log/component.ts'
import { makeJobLoad } from '../wire/publication.ts'
import { shownSteering } from '../wire/publish-request.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { storeJob } from './jids.ts'
import { narrowTarget } from './narrow-target.ts'
import { showJob } from './python-view.ts'
import type { WorkerRoom } from './room.ts'

/** Target types whose minions are known by id, so that a publication can be addressed to each (wire protocol §9). */
const BY_ID = new Set(['glob', 'pcre', 'list'])

/** A job that may be published: what is stored and announced is it as it may be shown; only its minions get its secrets. */
export interface Issue {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly shownArg: readonly unknown[]
  readonly words?: JobWords | undefined
  readonly tgt: unknown
  readonly tgtType: string
  readonly user: string
  /** Whose it is; not sent to minions. Undefined of a batch that was stored before owners were. */
  readonly owner: string | undefined
  readonly ret: string
  /** What of the extras goes to the minions. */
  readonly extras: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
  /** Which of the minions are perhaps not meant. */
  readonly unknown?: readonly string[]
  /** Nobody but these minions may take it for themselves. */
  readonly limited?: boolean
}

type Room = Pick<WorkerRoom, 'config' | 'fire' | 'jobs' | 'log' | 'meter' | 'nextJid' | 'publish'>

/** Gives its jid; undefined if the one that is wanted is taken. Rejects with STORE_FAILED: then it must not be published. */
export async function storeIssue(room: Room, issue: Issue, wanted?: string): Promise<string | undefined> {
  const { minions, unknown, owner } = issue
  const shown = { cmd: 'publish', ...shownOf(issue), ...shownSteering(issue.extras) }
  const load = { ...shown, ...(owner !== undefined && { owner }) }
  const job = { load, minions, unknown, ...(wanted !== undefined && { wanted }) }
  const jid = await storeJob(room, job)
  if (jid) await showJob(room, jid, job)
  return jid
}

/** Tell the bus of a job that is stored, and publish it. */
export async function publishIssue(room: Room, jid: string, issue: Issue): Promise<void> {
  const { fun, tgt, tgtType, user, owner, minions, missing, unknown = [] } = issue
  const arg = issue.shownArg
  room.fire(tags.jobPublished(jid), { minions })
  room.fire(tags.jobNew(jid), {
    ...{ jid, tgt_type: tgtType, tgt, user, fun, arg, minions, missing },
    ...(owner !== undefined && { owner }),
    ...(unknown.length > 0 && { unknown }),
  })
  room.log.info(`User ${user} Published command ${String(fun)} with jid ${jid}`)
  room.log.debug('Published command details {details}', {
    details: { ...shownOf(issue), ...shownSteering(issue.extras), jid },
  })
  room.meter?.count('salt_master_jobs_published', [])
  await room.publish(
    makeJobLoad({ ...shownOf(issue), ...sentTarget(issue), arg: issue.arg, jid }),
    BY_ID.has(tgtType) ? [...minions, ...missing] : undefined,
    issue.words,
  )
  component(room.log, 'channel.server').debug(`Sent payload to publish daemon. jid=${jid}`)
}

function sentTarget({ tgt, tgtType: tgt_type, extras, minions, limited }: Issue): object {
  if (!limited || BY_ID.has(tgt_type)) return {}
  const { delimiter } = extras
  return narrowTarget({ tgt, tgt_type, ...(typeof delimiter === 'string' && { delimiter }) }, minions)
}

function shownOf({ fun, shownArg, tgt, ret, tgtType, user, extras }: Issue): Record<string, unknown> {
  return { fun, arg: shownArg, tgt, ret, tgt_type: tgtType, user, ...extras }
}
