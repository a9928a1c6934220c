import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { jsonText } from '../../dialect/json.ts'
import { type Event, isTrimmed, tags } from '../../events/index.ts'
import type { FunctionRun } from '../../runs/background.ts'
import { type RunnerResult, resultOf } from '../../runs/run-result.ts'
import type { FunctionCaller, RunOptions } from '../functions/function-client.ts'
import { hasReturned } from '../local/contract.ts'
import {
  type ExternalAuth,
  isLockedOut,
  lockedOutError,
  whyNotAuthenticated,
} from '../local/external-auth.ts'
import { linkLocal, type MasterLink } from '../local/master-link.ts'
import { askMaster, connectMaster } from '../local/master-requests.ts'
import { startAndListen } from '../local/start-and-listen.ts'

type Load = Readonly<Record<string, unknown>>

/** The event of the end of a function: its tag and data. */
export interface FunctionEnd {
  readonly jid: string
  readonly tag: string
  readonly data: Load | undefined
}

/** The master answers when a runner has started, and when a wheel function has ended. */
const TIMEOUT_MS = { runner: 30_000, wheel: 60_000 } as const

/** Has the master run runners and wheel functions, authenticated by `external_auth` (wire protocol §8.2). */
export class RemoteFunctionClient implements FunctionCaller {
  readonly #kind: FunctionRun['kind']
  readonly #config: MasterConfig
  readonly #auth: ExternalAuth
  readonly #link: MasterLink | undefined
  readonly #requests: Pick<MasterLink, 'ask' | 'close'>

  /** Use a link, which its owner closes; without one, the sockets of the master's host. */
  constructor(kind: FunctionRun['kind'], config: MasterConfig, auth: ExternalAuth, link?: MasterLink) {
    this.#kind = kind
    this.#config = config
    this.#auth = auth
    this.#link = link
    this.#requests = link ?? requestsHere(config)
  }

  /** @throws SaltError AUTHENTICATION_FAILED, MASTER_UNREACHABLE, and PERMISSIONS for who may not read its events */
  async run(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
    options: RunOptions = {},
  ): Promise<RunnerResult> {
    refuseJid(options.jid)
    if (this.#kind === 'runner') return this.#follow(fun, args, kwargs, options)
    const { jid, data } = await this.#answer(fun, args, kwargs)
    return runnerResult(jid, data)
  }

  /**
   * Run a function and return the event of its end unchanged. `data` is undefined if the signal was aborted before: the
   * function continues.
   */
  async end(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
    options: Pick<RunOptions, 'signal' | 'onProgress'> = {},
  ): Promise<FunctionEnd> {
    return this.#kind === 'runner' ? this.#hear(fun, args, kwargs, options) : this.#answer(fun, args, kwargs)
  }

  async start(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
    { jid: wanted }: Pick<RunOptions, 'jid'> = {},
  ): Promise<{ jid: string; tag: string }> {
    refuseJid(wanted)
    if (this.#kind === 'wheel')
      throw new SaltError(
        'INVOCATION',
        'Wheel functions cannot run in the background on a remote master; leave out --async.',
      )
    return this.#begin(fun, args, kwargs)
  }

  async close(): Promise<void> {
    if (!this.#link) await this.#requests.close()
  }

  async #follow(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
    options: RunOptions,
  ): Promise<RunnerResult> {
    const { jid, data } = await this.#hear(fun, args, kwargs, options)
    if (data) return runnerResult(jid, data)
    options.onProgress?.({ message: `It continues on the master. ${lookUp(jid)}` })
    return { jid, return: null, success: false, retcode: 1 }
  }

  /** Start a runner and follow its events. Subscribes before it starts. */
  async #hear(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
    { signal, onProgress }: Pick<RunOptions, 'signal' | 'onProgress'>,
  ): Promise<FunctionEnd> {
    const link = this.#link ?? (await linkLocal(this.#config).catch(throwCannotListen))
    const missed = new AbortController()
    const until = signal ? AbortSignal.any([signal, missed.signal]) : missed.signal
    const onGap = () => missed.abort()
    const subscription = link.events.subscribe([], until, { onGap })
    try {
      const listener = { bus: link.events, family: tags.runs, subscription, onGap }
      const { jid } = await startAndListen(listener, () => this.#begin(fun, args, kwargs))
      const data = await endOf(jid, subscription, onProgress)
      if (!data && missed.signal.aborted) throw lost(fun, jid)
      return { jid, tag: tags.runReturn(jid), data: data && (await whole(link, jid, data)) }
    } finally {
      subscription.close()
      if (!this.#link) await link.close()
    }
  }

  async #answer(
    fun: string,
    args: readonly unknown[],
    kwargs: Load,
  ): Promise<FunctionEnd & { readonly data: Load }> {
    const { tag, data } = await this.#ask(fun, { arg: args, kwarg: kwargs })
    if (!isRecord(data)) throw strange(data)
    return { jid: String(data.jid), tag: String(tag), data }
  }

  async #begin(fun: string, args: readonly unknown[], kwargs: Load): Promise<{ jid: string; tag: string }> {
    const { jid, tag } = await this.#ask(fun, { kwarg: { arg: args, kwarg: kwargs } })
    if (typeof jid === 'string' && typeof tag === 'string') return { jid, tag }
    throw strange({ jid, tag })
  }

  async #ask(fun: string, load: Load): Promise<Load> {
    const cmd = this.#kind
    const request = { cmd, fun, ...load, ...this.#auth }
    const reply = await this.#requests.ask(request, TIMEOUT_MS[cmd])
    if (isRecord(reply) && isRecord(reply.error)) throw this.#refusal(fun, reply.error, reply)
    if (isRecord(reply)) return reply
    throw strange(reply)
  }

  /**
   * Return the error of a refusal. Salt uses the same error for a failed authentication and a missing permission. A master of
   * salt-ts says which it is and why, or that this cannot be determined now.
   */
  #refusal(fun: string, { name, message: said }: Load, answer: Load): SaltError {
    const { denied, reason, rule } = answer
    if (!/Authentication|Authorization/.test(String(name))) return new SaltError('INVOCATION', String(said))
    if (typeof reason === 'string' && isLockedOut(answer)) return lockedOutError(reason, answer)
    if (typeof reason === 'string') {
      const code = denied === true ? 'AUTHORIZATION_FAILED' : 'MASTER_UNREACHABLE'
      const sentence = `The master refused to run the ${this.#kind} function ${fun}. ${reason}`
      const inShort = denied === true ? 'Authorization error occurred.' : said
      return new SaltError(code, sentence, {
        name,
        said: inShort,
        reason,
        ...(typeof rule === 'string' && { rule }),
      })
    }
    return new SaltError(
      'AUTHENTICATION_FAILED',
      `The master refused to run the ${this.#kind} function ${fun}: ${said} ${whyNotAuthenticated(this.#auth)} ` +
        `Another possible cause is that external_auth does not grant you '@${this.#kind}'.`,
      { name, said },
    )
  }
}

/** Connect to the request port only, for users who may not read events. */
function requestsHere(config: MasterConfig): Pick<MasterLink, 'ask' | 'close'> {
  const requests = connectMaster(config)
  return { ask: (load, ms) => askMaster(requests, config, load, ms), close: () => requests.close() }
}

/** Return the data of the event of the end; undefined if the events ended before. */
async function endOf(
  jid: string,
  events: AsyncIterable<Event>,
  onProgress: RunOptions['onProgress'],
): Promise<Load | undefined> {
  for await (const { tag, data } of events) {
    if (tag === tags.runReturn(jid)) return data
    const { _stamp, ...progress } = data
    if (tag === tags.runProgress(jid)) onProgress?.(progress)
  }
  return undefined
}

/** Return the end of a run, of which an event had no room for all (`max_event_size`), from the job cache, if that has it. */
async function whole({ records }: MasterLink, jid: string, data: Load): Promise<Load> {
  if (!isTrimmed(data)) return data
  for await (const stored of records.run(jid))
    if (hasReturned(stored) && isRecord(stored.return)) return { ...data, ...stored.return }
  return data
}

/** Return the result; a failed function gets a retcode even if the master sent none. */
function runnerResult(jid: string, { return: value, success, retcode }: Load): RunnerResult {
  const code = typeof retcode === 'number' ? retcode : 0
  return { jid, ...resultOf(value, { retcode: success === false ? code || 1 : code }, undefined) }
}

function refuseJid(jid: string | undefined): void {
  if (jid === undefined) return
  throw new SaltError('INVOCATION', 'The master assigns the job id; leave out --jid.')
}

function throwCannotListen(error: unknown): never {
  if (!SaltError.is(error) || error.code !== 'PERMISSIONS') throw error
  const advice = 'The return of a runner is an event; --async starts the runner without waiting for it.'
  throw new SaltError(error.code, `${error.message} ${advice}`)
}

const lookUp = (jid: string): string => `Look up the result: salt-run jobs.lookup_jid ${jid}`

const lost = (fun: string, jid: string): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `The event bus was down, as when the master is restarted: the end of ${fun} may have been missed. ${lookUp(jid)}`,
    { jid },
  )

const strange = (reply: unknown): SaltError =>
  new SaltError('DECODE_FAILED', `The master sent an invalid answer: ${jsonText(reply)}`)
