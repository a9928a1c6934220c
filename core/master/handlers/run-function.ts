import { ownerOf, proofIn, retryLaterReply } from '../../auth/index.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { stamp, tags } from '../../events/index.ts'
import type { FunctionRun, StartedRun } from '../../runs/background.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import type { WorkerContext } from '../worker/context.ts'
import { type RunSlot, RunSlots } from '../worker/run-slots.ts'

/** Limits the functions that one worker runs for clients at once; each is a process. */
const MAX_RUNS = 32
const TOO_MANY = `${MAX_RUNS} runners are already running; try again when some have finished.`
const MAX_NAME_LENGTH = 256
/** How long to wait for a wheel function: less than the deadline of a request. */
const WHEEL_MS = 45_000

type Load = Readonly<Record<string, unknown>>
type Kind = FunctionRun['kind']

/** Keys of a load that only the master uses, never the function (Salt's CLIENT_INTERNAL_KEYWORDS). */
const INTERNAL = new Set(
  'arg client cmd eauth fun full_return kwarg key password print_event token user username __jid__ __tag__ __user__'.split(
    ' ',
  ),
)

/**
 * Salt's errors, which are the same for a failed authentication and a missing permission. Our own `denied`, `reason` and
 * `rule` distinguish them; they are siblings of `error`, since Python clients pass the members of `error` to an exception.
 */
const errors = {
  token: (user: string) => failed('TokenAuthenticationError', 'token', user),
  eauth: (user: string) => failed('EauthAuthenticationError', 'eauth', user),
  key: () => ({
    name: 'UserAuthenticationError',
    message: 'Authentication failure of type "user" occurred',
  }),
} as const

const failed = (name: string, type: string, user: string) => ({
  name,
  message: `Authentication failure of type "${type}" occurred${user === '' ? '' : ` for user ${user}`}.`,
})

/**
 * `runner` and `wheel` (wire protocol §8.2), for callers with the key of the master's user, or with rules with `@`. Each
 * function runs in a process of its own. The answer to a runner comes once it has started, with the tag of its events; the
 * answer to a wheel function is its return.
 */
export function runFunctionHandlers(context: WorkerContext): [Kind, ClearHandler][] {
  const slots = new RunSlots(MAX_RUNS, context)
  const handle =
    (kind: Kind): ClearHandler =>
    async (load, via) => {
      const { fun } = load
      if (typeof fun !== 'string' || fun === '')
        return { error: { name: 'SaltInvocationError', message: `No function was named: fun of ${kind}.` } }
      if (fun.length > MAX_NAME_LENGTH)
        return { error: { name: 'SaltInvocationError', message: `fun of ${kind} is too long to be a name.` } }
      const who = await authorize(context, slots, { kind, fun, load, via })
      if ('refusal' in who) return who.refusal
      const { jid, user, owner, ownJobs, call, slot } = who
      const run = { kind, fun, jid, user, owner, ownJobs, config: context.config, ...call }
      context.log.info(`User ${user} runs ${kind} ${fun} with jid ${run.jid}`)
      try {
        const started = await slot(run)
        return kind === 'wheel' ? await wheelReply(run, started) : runnerReply(run, started)
      } catch (error) {
        return { error: { name: 'SaltClientError', message: messageOf(error) } }
      }
    }
  return [
    ['runner', handle('runner')],
    ['wheel', handle('wheel')],
  ]
}

interface Asked {
  readonly kind: Kind
  readonly fun: string
  readonly load: Load
  readonly via: ClaimedVia | undefined
}

type Authorized = {
  readonly jid: string
  readonly user: string
  readonly owner: string
  readonly ownJobs: boolean
  readonly call: Pick<FunctionRun, 'args' | 'kwargs'>
  readonly slot: RunSlot
}

/** Authenticate and authorize the caller, and take a slot; return the request to run, or the refusal. */
async function authorize(
  context: WorkerContext,
  slots: RunSlots,
  { kind, fun, load, via }: Asked,
): Promise<Authorized | { readonly refusal: object }> {
  const { auth, config } = context
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  // Python's salt-run sends no user if it has read the key of the master's user.
  const named = load.user === undefined ? config.user : text(load.user)
  const proof = proofIn(load, { user: named, key: text(load.key) })
  const who = await auth.identity.of(proof, via)
  const about = { act: kind, by: proof.by, fun, via }
  if (!('caller' in who)) {
    const { claimed: user, refused: reason, later } = who
    await auditDecision(context, { ...about, verdict: 'refused', user, claimed: true, reason })
    return { refusal: { error: errors[proof.by](user), ...(later && retryLaterReply(later)) } }
  }
  const { name: user, eauth } = who.caller
  const call = argumentsOf(kind, load, await auth.identity.credentialsOf(proof))
  const decision = auth.access.authorize(who.caller, [{ kind, fun, ...call }])
  const known = { ...about, user, eauth, args: await context.shownCall(kind, { fun, ...call }) }
  if (!decision.allowed) {
    const { reason, rule } = decision
    await auditDecision(context, { ...known, verdict: 'refused', rule, reason })
    const more = { reason, ...(rule !== undefined && { rule }), denied: true }
    return { refusal: { error: errors[proof.by](user), ...more } }
  }
  const slot = slots.take()
  if (!slot) {
    await auditDecision(context, { ...known, verdict: 'refused', reason: TOO_MANY })
    return { refusal: { error: { name: 'SaltClientError', message: TOO_MANY } } }
  }
  const jid = context.nextJid()
  await auditDecision(context, { ...known, verdict: 'allowed', jid, rule: decision.rule })
  const as = user.startsWith('sudo_') && who.caller.unrestricted ? config.user : user
  const ownJobs = !auth.access.seesAllJobs(who.caller)
  return { jid, user: as, owner: ownerOf(who.caller), ownJobs, call, slot }
}

/** Read the arguments: in `kwarg`, where Python clients put `{arg, kwarg}`; for a wheel function also beside `kwarg`. */
function argumentsOf(
  kind: Kind,
  load: Load,
  credentials: readonly string[],
): Pick<FunctionRun, 'args' | 'kwargs'> {
  const given = isRecord(load.kwarg) ? load.kwarg : {}
  const inner = isRecord(given.kwarg) ? given.kwarg : given
  const arg = Array.isArray(given.arg) ? given.arg : Array.isArray(load.arg) ? load.arg : []
  const outer = kind === 'wheel' ? visible(load, [...INTERNAL, ...credentials]) : {}
  const { __kwarg__, ...kwargs } = isRecord(given.kwarg) ? inner : visible(inner, ['arg'])
  return { args: arg, kwargs: { ...outer, ...kwargs } }
}

function visible(load: Load, hidden: Iterable<string> = INTERNAL): Record<string, unknown> {
  const names = new Set(hidden)
  return Object.fromEntries(Object.entries(load).filter(([name]) => !names.has(name)))
}

function runnerReply({ jid }: FunctionRun, started: StartedRun): unknown {
  started.leave()
  return { tag: tags.run(jid), jid }
}

async function wheelReply({ fun, jid, user }: FunctionRun, started: StartedRun): Promise<unknown> {
  const tag = tags.wheel(jid)
  const about = { fun: `wheel.${fun}`, jid, tag, user }
  try {
    const late = () =>
      new SaltError(
        'TIMEOUT',
        `wheel ${fun} is still running; its return will be an event with the tag ${tag}/ret.`,
      )
    const { return: value, success } = await withTimeout(started.end, WHEEL_MS, late)
    return { tag, data: { ...about, return: value, success, _stamp: stamp(new Date()) } }
  } catch (error) {
    return { tag, data: { ...about, return: messageOf(error), success: false, _stamp: stamp(new Date()) } }
  } finally {
    started.leave()
  }
}
