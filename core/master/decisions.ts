import type { Caller } from '../auth/index.ts'
import type { ClaimedVia } from '../wire/via.ts'
import type { WorkerRoom } from './room.ts'

/** What was decided about something somebody asked a worker for. */
export interface Decision {
  readonly act: 'publish' | 'batch' | 'plan' | 'runner' | 'wheel' | 'peer' | 'peer_run' | 'login' | 'logout'
  readonly verdict: 'allowed' | 'refused'
  /** Who it is; as who they claim to be where they did not prove it. */
  readonly user: string
  /** They did not prove it. */
  readonly claimed?: true
  /** By what they proved it, or tried to. */
  readonly by: Caller['by']
  readonly eauth?: string | undefined
  /** For whom somebody has passed it on. */
  readonly via?: ClaimedVia | undefined
  readonly fun?: string | readonly string[]
  /** As they may be shown. */
  readonly args?: readonly unknown[]
  readonly tgt?: unknown
  /** What a job asks for beside its functions (`ret`, `ret_config`, …), as it may be shown. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly jid?: string
  /** Where in the configuration it stands, of what is allowed or forbidden. */
  readonly rule?: string | undefined
  /** A sentence, of what is refused. */
  readonly reason?: string
}

/**
 * Every decision about a client goes through here, allowed ones when it is sure that they come to something, and before
 * they do. Resolves when it is in the audit log, or that takes too long; never rejects.
 */
export async function noteDecision(
  { log, audit }: Pick<WorkerRoom, 'log' | 'audit'>,
  decision: Decision,
): Promise<void> {
  const { options, ...about } = decision
  const { act, verdict, user, by, fun, rule, reason } = about
  const what = `${verbs[act]}${fun === undefined ? '' : ` ${shown(String(fun))}`} for ${user === '' ? 'somebody' : `user ${shown(user)}`} (${by})`
  if (verdict === 'refused') log.warn(`Refused to ${what}: ${reason ?? 'it is not said why'}`)
  else log.debug(`Allowed to ${what}${rule ? `: ${rule}` : ''}`)
  const via = about.via && withoutProof(about.via)
  await audit.record({ ...about, ...options, ...(via && { via }), ...(by === 'minion' && { from: user }) })
}

const withoutProof = ({ proof, ...via }: ClaimedVia): ClaimedVia => via

const verbs: Readonly<Record<Decision['act'], string>> = {
  publish: 'publish',
  batch: 'start a batch of',
  plan: 'plan',
  runner: 'run runner',
  wheel: 'run wheel',
  peer: 'publish as a peer',
  peer_run: 'run runner as a peer',
  login: 'make a token',
  logout: 'forget a token',
}

/** It comes from anybody. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 200)).slice(1, -1)
