/** The clients `runner` and `wheel`. The master runs their functions; an event reports the end of a runner. */

import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { type FunctionEnd, RemoteFunctionClient } from '../client/remote/remote-function-client.ts'
import { parseWords } from '../loader/calls/words.ts'
import type { FunctionRun } from '../runs/background.ts'
import { CREDENTIALS } from './chunk.ts'
import type { ApiCall } from './clients.ts'
import { signalWithTimeout } from './waits.ts'

/** Return code for a runner that does not exist (wire protocol §12). */
const NO_SUCH_RUNNER = 254

interface EndEvent extends FunctionEnd {
  readonly data: Readonly<Record<string, unknown>>
}

/** Run `runner`: return the value of the runner, with `full_return` the event of its end. */
export async function runRunner(call: ApiCall): Promise<unknown> {
  const { tag, data } = await endOfRunner(call)
  return call.chunk.full_return === true ? { tag, data } : data.return
}

/**
 * Run a runner and return the event of its end. Rejects with TIMEOUT after the `timeout` of the chunk, or
 * `rest_timeout`.
 */
async function endOfRunner(call: ApiCall): Promise<EndEvent> {
  const { context, chunk } = call
  const { fun, args, kwargs } = functionOf(call)
  const seconds = typeof chunk.timeout === 'number' ? chunk.timeout : context.config.rest_timeout
  const late = () => new SaltError('TIMEOUT', `The runner ${fun} is still running after ${seconds} s.`)
  const { signal, clear } = signalWithTimeout(call.signal, seconds, late)
  try {
    const { jid, tag, data } = await clientOf('runner', call).end(fun, args, kwargs, { signal })
    if (!data) throw withJid(signal.reason, jid)
    if (data.retcode === NO_SUCH_RUNNER && data.fun === fun)
      throw new SaltError('FUNCTION_NOT_FOUND', String(data.return))
    return { jid, tag, data }
  } finally {
    clear()
  }
}

/** Run `runner_async`: return the tag of its events. */
export async function startRunner(call: ApiCall): Promise<unknown> {
  const { fun, args, kwargs } = functionOf(call)
  const { jid, tag } = await clientOf('runner', call).start(fun, args, kwargs)
  return { tag, jid }
}

/** Run `wheel`: return the event of its end. */
export async function runWheel(call: ApiCall): Promise<unknown> {
  const { tag, data } = await endOfWheel(call)
  return { tag, data }
}

/** Run `wheel_async`: return the tag of its events. The master answers with the tag only when the function has ended. */
export async function startWheel(call: ApiCall): Promise<unknown> {
  const { tag, jid } = await endOfWheel(call)
  return { tag, jid }
}

async function endOfWheel(call: ApiCall): Promise<FunctionEnd> {
  const { fun, args, kwargs } = functionOf(call)
  return clientOf('wheel', call).end(fun, args, kwargs)
}

const clientOf = (kind: FunctionRun['kind'], { context, auth }: ApiCall): RemoteFunctionClient =>
  new RemoteFunctionClient(kind, context.config, auth, context.link)

function withJid(reason: unknown, jid: string): unknown {
  if (!SaltError.is(reason)) return reason
  return new SaltError(
    reason.code,
    `${reason.message} It continues to run; find its result at /jobs/${jid}.`,
    {
      jid,
    },
  )
}

/** Members for the client, which are not passed to the function. */
const RESERVED = new Set<string>([
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
  ...CREDENTIALS,
])

/**
 * Return the function of a chunk and its arguments. `arg` may hold `name=value`; members that are not reserved are
 * keyword arguments.
 */
function functionOf({ chunk }: ApiCall) {
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
