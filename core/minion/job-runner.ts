import type { Context, Job, Log, MasterServices, MinionServices } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { tags } from '../events/index.ts'
import {
  createContext,
  type LoadedFunction,
  type Loader,
  maskArguments,
  splitArguments,
} from '../loader/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import {
  makeMultiReturn,
  makeReturn,
  type Outcome,
  type ReturnLoad,
  retcodeOf,
  shownArguments,
} from '../wire/return.ts'

/** What running jobs needs; the same in the minion, in a job process and in `salt-call`. */
export interface RunnerSettings {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Readonly<Record<string, unknown>>
  readonly pillar: Readonly<Record<string, unknown>>
  readonly loader: Loader
  readonly services: MinionServices
  readonly match: Context['match']
  readonly log: Log
  /** Is given a job that has arguments as it may be shown, with secret ones masked, before it runs. */
  readonly onShown?: ((job: JobLoad) => Promise<void>) | undefined
}

/** Run every function of a job and give its return. Never rejects: what goes wrong is in the return. */
export async function runJob(
  job: JobLoad,
  settings: RunnerSettings,
  signal: AbortSignal,
): Promise<ReturnLoad> {
  const { fun } = job
  const shown = { ...job, arg: await maskedArguments(job, settings.loader) }
  if (job.arg.length > 0) await settings.onShown?.(shown)
  if (typeof fun === 'string') {
    return makeReturn(shown, settings.id, await runFunction(fun, job.arg, job, settings, signal))
  }
  const outcomes: [string, Outcome][] = []
  for (const [index, name] of fun.entries()) {
    const arg = job.arg[index]
    outcomes.push([name, await runFunction(name, Array.isArray(arg) ? arg : [], job, settings, signal)])
  }
  return makeMultiReturn(shown, settings.id, outcomes, settings.config.multifunc_ordered === true)
}

/**
 * The arguments of a job as they may be shown. Each function is loaded for that, as it is to run it; the module of one
 * that is refused is asked all the same.
 */
export function maskedArguments(
  job: Pick<JobLoad, 'fun' | 'arg'>,
  loader: Pick<Loader, 'get' | 'params'>,
): Promise<readonly unknown[]> {
  return maskArguments(job, async (fun) => (await loader.get(fun))?.params ?? loader.params(fun))
}

/** Run one function with arguments as they were published. Never rejects. */
export async function runFunction(
  name: string,
  arg: readonly unknown[],
  job: JobLoad,
  settings: RunnerSettings,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    signal.throwIfAborted()
    const found = await settings.loader.get(name)
    if (!found) return failure('missing', await settings.loader.why(name))
    const context = contextOf(job, settings, signal)
    const { args, kwargs } = splitArguments(arg)
    const bound = found.bind(args, kwargs, publishedKeywords(job))
    const result = await collect(await found.run(bound, context), job, settings)
    signal.throwIfAborted() // what a job gives that was told to end is not what was asked for
    const retcode = retcodeOf(result, context.retcode)
    return { return: result ?? null, retcode, success: retcode === 0, ...outputterOf(found) }
  } catch (error) {
    if (signal.aborted) return failure('error', `ERROR: ${messageOf(signal.reason)}`)
    return failure('error', await explain(name, error, settings))
  }
}

const outputterOf = (found: LoadedFunction) => (found.outputter ? { out: found.outputter } : {})

const failure = (failure: 'missing' | 'error', text: string): Outcome => ({
  return: text,
  retcode: 1,
  success: false,
  out: 'nested',
  failure,
})

/** `__pub_<key>` for every key of the job (wire protocol §10.1), arguments without the mark of keywords. */
function publishedKeywords(job: JobLoad): Record<string, unknown> {
  const shown = { ...job, arg: shownArguments(job.arg) }
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [`__pub_${key}`, value]))
}

function contextOf(job: JobLoad, settings: RunnerSettings, signal: AbortSignal): Context {
  const { id, config, grains, pillar, log, services, loader, match } = settings
  const base = {
    opts: config,
    id,
    grains,
    pillar,
    context: new Map<string, unknown>(),
    log,
    signal,
    job: job as Job,
    retcode: 0,
    match,
    minion: services,
    get master(): MasterServices {
      throw new SaltError(
        'INVOCATION',
        'context.master is there for runners only; this function runs on a minion.',
      )
    },
  }
  return createContext(base, loader)
}

/** A function that yields sends each value as a progress event; its return is all of them together. */
async function collect(result: unknown, job: JobLoad, settings: RunnerSettings): Promise<unknown> {
  if (!isGenerator(result)) return result
  const values: unknown[] = []
  for await (const value of result) {
    const tag = tags.jobProgress(job.jid, settings.id, values.length)
    await settings.services.fireMaster(tag, { return: value })
    values.push(value)
  }
  return values.length > 0 && values.every(isPlainMap) ? Object.assign({}, ...values) : values
}

function isGenerator(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null || !('next' in value)) return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}

const isPlainMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Salt's sentences for what went wrong (wire protocol §10.3). */
async function explain(name: string, error: unknown, settings: RunnerSettings): Promise<string> {
  const code = SaltError.is(error) ? error.code : undefined
  const message = messageOf(error)
  if (code === 'INVALID_ARGUMENTS') return withDocumentation(name, message, settings.loader)
  if (code === 'INVOCATION') return `ERROR executing '${name}': ${message}`
  if (code === 'COMMAND_EXECUTION') return `ERROR: ${message}`
  if (code === 'COMMAND_NOT_FOUND') return `Command required for '${name}' not found: ${message}`
  if (code === 'CANCELLED') return `ERROR: ${message}`
  await settings.services
    .fireMaster(tags.saltError, { message: `The minion function caused an exception`, args: [name, message] })
    .catch(() => false)
  const trace = error instanceof Error ? (error.stack ?? message) : message
  return `The minion function caused an exception: ${trace}`
}

async function withDocumentation(name: string, message: string, loader: Loader): Promise<string> {
  const prefix = `Passed invalid arguments to ${name}: `
  const text = message.startsWith('Passed invalid arguments') ? message : prefix + message
  const doc = await loader.view.doc(name).catch(() => undefined)
  return doc ? `${text}\n\n${doc}` : text
}
