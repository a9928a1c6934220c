import type { Caller } from '../../auth/index.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import type { WorkerContext } from '../worker/context.ts'

/** A decision of a worker to allow or refuse a request. */
export interface AuditedDecision {
  readonly act: 'publish' | 'batch' | 'plan' | 'runner' | 'wheel' | 'peer' | 'peer_run' | 'login' | 'logout'
  readonly verdict: 'allowed' | 'refused'
  /** Name of the user; not proved if `claimed` is set. */
  readonly user: string
  /** The user is not authenticated. */
  readonly claimed?: true
  /** The means by which the user authenticated, or tried to. */
  readonly by: Caller['by']
  readonly eauth?: string | undefined
  /** The client of the API that passed the request on, and the address of its HTTP client. */
  readonly via?: ClaimedVia | undefined
  readonly fun?: string | readonly string[]
  /** Arguments, with secrets masked. */
  readonly args?: readonly unknown[]
  readonly tgt?: unknown
  /** Options of a job beside its functions (`ret`, `ret_config`, …), with secrets masked. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly jid?: string
  /** Names the option and entry of the configuration that allows or forbids it. */
  readonly rule?: string | undefined
  /** The reason for a refusal, as a sentence. */
  readonly reason?: string
}

/**
 * Log a decision and record it in the audit log. Allowed requests are recorded once nothing can refuse them any more, and
 * before they take effect. Resolves once the entry is written, or after a time-out; with false if it is left out of both logs, as one of
 * too many that anybody can cause. Never rejects.
 */
export async function auditDecision(
  { log, audit }: Pick<WorkerContext, 'log' | 'audit'>,
  decision: AuditedDecision,
): Promise<boolean> {
  const { options, ...about } = decision
  const { act, verdict, user, by, fun, rule, reason } = about
  const what = `${verbs[act]}${fun === undefined ? '' : ` ${shown(String(fun))}`} for ${user === '' ? 'an unknown user' : `user ${shown(user)}`} (${by})`
  if (verdict === 'allowed') log.debug(`Allowed to ${what}${rule ? `: ${rule}` : ''}`)
  const via = about.via && withoutProof(about.via)
  const entry = { ...about, ...options, ...(via && { via }), ...(by === 'minion' && { from: user }) }
  const isRecorded = await audit.record(entry)
  if (verdict === 'refused' && isRecorded) log.warn(`Refused to ${what}: ${reason ?? 'no reason was given'}`)
  return isRecorded
}

const withoutProof = ({ proof, ...via }: ClaimedVia): ClaimedVia => via

const verbs: Readonly<Record<AuditedDecision['act'], string>> = {
  publish: 'publish',
  batch: 'start a batch of',
  plan: 'plan',
  runner: 'run runner',
  wheel: 'run wheel',
  peer: 'publish as a peer',
  peer_run: 'run runner as a peer',
  login: 'create a token',
  logout: 'revoke a token',
}

/** Shorten and escape a text that anybody may have sent. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 200)).slice(1, -1)
