/** The clients that run functions of the master's host: the master runs them, the end of a runner is an event. */
import { SaltError } from '../base/errors.ts'
import { type FunctionEnd, RemoteFunctionClient } from '../client/remote-function-client.ts'
import type { FunctionRun } from '../jobs/background.ts'
import { parseWords } from '../loader/words.ts'
import { isRecord } from '../wire/bytes.ts'
import { inTime } from './calling.ts'
import { CREDENTIALS } from './chunk.ts'
import type { Call } from './clients.ts'

/** What the master answers, too, of a runner that does not exist (wire protocol §12). */
const NO_SUCH_RUNNER = 254

interface EndEvent extends FunctionEnd {
  readonly data: Readonly<Record<string, unknown>>
}

/** `runner`: what it gives; with `full_return` the event of its end. */
export async function runAndWait(call: Call): Promise<unknown> {
  const { tag, data } = await endOfRunner(call)
  return call.chunk.full_return === true ? { tag, data } : data.return
}

/** The event of its end. Rejects with TIMEOUT after `timeout` of the chunk, or `rest_timeout`. */
async function endOfRunner(call: Call): Promise<EndEvent> {
  const { room, chunk } = call
  const { fun, args, kwargs } = functionOf(call)
  const seconds = typeof chunk.timeout === 'number' ? chunk.timeout : room.config.rest_timeout
  const late = () => new SaltError('TIMEOUT', `The runner ${fun} is not done after ${seconds} s.`)
  const { signal, over } = inTime(call.signal, seconds, late)
  try {
    const { jid, tag, data } = await clientOf('runner', call).end(fun, args, kwargs, { signal })
    if (!data) throw goesOn(signal.reason, jid)
    if (data.retcode === NO_SUCH_RUNNER && data.fun === fun)
      throw new SaltError('FUNCTION_NOT_FOUND', String(data.return))
    return { jid, tag, data }
  } finally {
    over()
  }
}

/** `runner_async`: the tag of its events. */
export async function runOnly(call: Call): Promise<unknown> {
  const { fun, args, kwargs } = functionOf(call)
  const { jid, tag } = await clientOf('runner', call).start(fun, args, kwargs)
  return { tag, jid }
}

/** `wheel`: the event of its end. */
export async function runWheel(call: Call): Promise<unknown> {
  const { tag, data } = await endOfWheel(call)
  return { tag, data }
}

/** `wheel_async`: the tag of its events. The master answers when the function is over, and only then says its tag. */
export async function startWheel(call: Call): Promise<unknown> {
  const { tag, jid } = await endOfWheel(call)
  return { tag, jid }
}

async function endOfWheel(call: Call): Promise<FunctionEnd> {
  const { fun, args, kwargs } = functionOf(call)
  return clientOf('wheel', call).end(fun, args, kwargs)
}

const clientOf = (kind: FunctionRun['kind'], { room, auth }: Call): RemoteFunctionClient =>
  new RemoteFunctionClient(kind, room.config, auth, room.link)

function goesOn(reason: unknown, jid: string): unknown {
  if (!SaltError.is(reason)) return reason
  return new SaltError(reason.code, `${reason.message} It goes on; look it up at /jobs/${jid}.`, { jid })
}

/** Members that are for the client, never for the function. */
const RESERVED = new Set<string>([
  ...[
    'client',
    'fun',
    'arg',
    'kwarg',
    'timeout',
    'full_return',
    'token',
    'eauth',
    'user',
    'key',
    'raw_shell',
  ],
  ...CREDENTIALS,
])

/** `arg` may hold `name=value`; what else the chunk has are keyword arguments, too. */
function functionOf({ chunk }: Call) {
  const { fun, arg, kwarg } = chunk
  if (typeof fun !== 'string' || fun === '')
    throw new SaltError(
      'INVALID_ARGUMENTS',
      `fun of the client '${chunk.client}' must be the name of one function.`,
    )
  const { args, kwargs } = parseWords(Array.isArray(arg) ? arg : [])
  const others = Object.entries(chunk).filter(([name]) => !RESERVED.has(name))
  return {
    fun,
    args,
    kwargs: { ...kwargs, ...(isRecord(kwarg) && kwarg), ...Object.fromEntries(others) },
  }
}
