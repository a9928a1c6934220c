import { messageOf, SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { stamp, tags } from '../../events/index.ts'
import type { FunctionRun, StartedRun } from '../../jobs/background.ts'
import { isRecord } from '../../wire/bytes.ts'
import type { WorkerRoom } from '../room.ts'

/** So many at once, each a process; what is too much is refused. */
const MOST_RUNS = 32
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

/** In Salt's words; the reason is in the log. */
const authenticationErrors = {
  token: { name: 'TokenAuthenticationError', message: 'Authentication failure of type "token" occurred.' },
  eauth: { name: 'EauthAuthenticationError', message: 'Authentication failure of type "eauth" occurred.' },
  user: { name: 'UserAuthenticationError', message: 'Authentication failure of type "user" occurred' },
} as const

const reasons = {
  token: 'tokens are not there yet; name user and key of the master',
  eauth: 'external authentication is not there yet; name user and key of the master',
  user: "it takes the key of the master's user",
} as const

/**
 * `runner` and `wheel` (wire protocol §8.2), for who has the key of the master's user: what `publisher_acl` allows is
 * publishing, so its users are refused. Each function runs in a process of its own. A runner is answered when it has
 * begun, with the tag of its events; a wheel function with what it gives.
 */
export function runFunctionHandlers(room: WorkerRoom): [Kind, ClearHandler][] {
  let running = 0
  const start = async (run: FunctionRun): Promise<StartedRun> => {
    if (running >= MOST_RUNS) {
      throw new SaltError(
        'COMMAND_EXECUTION',
        `${MOST_RUNS} runners run already; try again when some are done.`,
      )
    }
    running++
    const over = () => void running--
    const started = room.startRun(run)
    started.then(({ gone }) => gone.then(over), over)
    return started
  }
  const handle =
    (kind: Kind): ClearHandler =>
    async (load) => {
      const user = await authenticate(room, load)
      if (user === undefined) return { error: refuse(room, kind, load) }
      if (typeof load.fun !== 'string' || load.fun === '')
        return { error: { name: 'SaltInvocationError', message: `No function was named: fun of ${kind}.` } }
      const { fun } = load
      const run = { kind, fun, jid: room.nextJid(), user, config: room.config, ...argumentsOf(kind, load) }
      room.log.info(`User ${user} runs ${kind} ${fun} with jid ${run.jid}`)
      try {
        const started = await start(run)
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

/** The name of who may do it. */
async function authenticate(room: WorkerRoom, load: Load): Promise<string | undefined> {
  const { user, key } = load
  if ('token' in load || 'eauth' in load || typeof user !== 'string' || typeof key !== 'string')
    return undefined
  const caller = await room.access.authenticate(user, key)
  if (!caller || caller.restricted) return undefined
  return user.startsWith('sudo_') ? room.config.user : user
}

function refuse(room: WorkerRoom, kind: Kind, load: Load): object {
  const by = 'token' in load ? 'token' : 'eauth' in load ? 'eauth' : 'user'
  room.log.warn(`Refused to run ${kind} ${JSON.stringify(String(load.fun).slice(0, 100))}: ${reasons[by]}.`)
  return authenticationErrors[by]
}

/** Of a runner in `kwarg`, where Python clients put `{arg, kwarg}`; of a wheel function beside them, too. */
function argumentsOf(kind: Kind, load: Load): Pick<FunctionRun, 'args' | 'kwargs'> {
  const given = isRecord(load.kwarg) ? load.kwarg : {}
  const inner = isRecord(given.kwarg) ? given.kwarg : given
  const arg = Array.isArray(given.arg) ? given.arg : Array.isArray(load.arg) ? load.arg : []
  const outer = kind === 'wheel' ? visible(load) : {}
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
