import { laterReply, ownerOf, proofIn } from '../../auth/index.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { stamp, tags } from '../../events/index.ts'
import type { FunctionRun, StartedRun } from '../../jobs/background.ts'
import { isRecord } from '../../wire/bytes.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import { noteDecision } from '../decisions.ts'
import type { WorkerRoom } from '../room.ts'
import { RunSlots } from '../run-slots.ts'

/** So many at once, each a process; what is too much is refused. */
const MOST_RUNS = 32
const TOO_MANY = `${MOST_RUNS} runners run already; try again when some are done.`
const LONGEST_NAME = 256
/** Who asked for a wheel function is answered within the deadline of its request. Milliseconds. */
const WHEEL_MS = 45_000

type Load = Readonly<Record<string, unknown>>
type Kind = FunctionRun['kind']

/** Members of a load that are for the master, never for the function (Salt's CLIENT_INTERNAL_KEYWORDS). */
const INTERNAL = new Set(
  'arg client cmd eauth fun full_return kwarg key password print_event token user username __jid__ __tag__ __user__'.split(
    ' ',
  ),
)

/**
 * In Salt's words, whether somebody is not known or may not do it. `denied`, `reason` and `rule`, of our own, tell that;
 * they are beside `error`: Python clients take its members for arguments of an exception, and fail at one they do not know.
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
 * `runner` and `wheel` (wire protocol §8.2), for who has the key of the master's user, or rules with `@`. Each function
 * runs in a process of its own. A runner is answered when it has begun, with the tag of its events; a wheel function with
 * what it gives.
 */
export function runFunctionHandlers(room: WorkerRoom): [Kind, ClearHandler][] {
  const slots = new RunSlots(MOST_RUNS, room)
  const handle =
    (kind: Kind): ClearHandler =>
    async (load, via) => {
      const { fun } = load
      if (typeof fun !== 'string' || fun === '' || fun.length > LONGEST_NAME)
        return { error: { name: 'SaltInvocationError', message: `No function was named: fun of ${kind}.` } }
      const who = await authorize(room, { kind, fun, load, via })
      if ('refusal' in who) return who.refusal
      const { jid, user, owner, ownJobs, call } = who
      const run = { kind, fun, jid, user, owner, ownJobs, config: room.config, ...call }
      room.log.info(`User ${user} runs ${kind} ${fun} with jid ${run.jid}`)
      if (slots.isFull) return { error: { name: 'SaltClientError', message: TOO_MANY } }
      try {
        const started = await slots.start(run)
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
}

/** Who may do it, with what the function is given. */
async function authorize(
  room: WorkerRoom,
  { kind, fun, load, via }: Asked,
): Promise<Authorized | { readonly refusal: object }> {
  const { auth, config } = room
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  // Python's salt-run names no user where it has read the key of the master's.
  const named = load.user === undefined ? config.user : text(load.user)
  const proof = proofIn(load, { user: named, key: text(load.key) })
  const who = await auth.identity.of(proof, via)
  const about = { act: kind, by: proof.by, fun, via }
  if (!('caller' in who)) {
    const { claimed: user, refused: reason, later } = who
    await noteDecision(room, { ...about, verdict: 'refused', user, claimed: true, reason })
    return { refusal: { error: errors[proof.by](user), ...(later && laterReply(later)) } }
  }
  const { name: user, eauth } = who.caller
  const call = argumentsOf(kind, load, await auth.identity.credentialsOf(proof))
  const verdict = auth.access.judge(who.caller, [{ kind, fun, ...call }])
  const known = { ...about, user, eauth, args: await room.shownCall(kind, { fun, ...call }) }
  if (!verdict.allowed) {
    const { reason, rule } = verdict
    await noteDecision(room, { ...known, verdict: 'refused', rule, reason })
    const more = { reason, ...(rule !== undefined && { rule }), denied: true }
    return { refusal: { error: errors[proof.by](user), ...more } }
  }
  const jid = room.nextJid()
  await noteDecision(room, { ...known, verdict: 'allowed', jid, rule: verdict.rule })
  const as = user.startsWith('sudo_') && who.caller.unrestricted ? config.user : user
  const ownJobs = !auth.access.seesAllJobs(who.caller)
  return { jid, user: as, owner: ownerOf(who.caller), ownJobs, call }
}

/** Of a runner in `kwarg`, where Python clients put `{arg, kwarg}`; of a wheel function beside them, too. */
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
    const { return: value, success } = await inTime(started.end, fun, tag)
    return { tag, data: { ...about, return: value, success, _stamp: stamp(new Date()) } }
  } catch (error) {
    return { tag, data: { ...about, return: messageOf(error), success: false, _stamp: stamp(new Date()) } }
  } finally {
    started.leave()
  }
}

function inTime<T>(work: Promise<T>, fun: string, tag: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = `wheel ${fun} still runs; its end will be an event with the tag ${tag}/ret.`
    const timer = setTimeout(() => reject(new SaltError('TIMEOUT', late)), WHEEL_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
