import { setImmediate } from 'node:timers/promises'
import type { Context, Job, Log, MasterServices, MinionServices } from '../author/context.ts'
import { p } from '../author/params.ts'
import { messageOf, messageWithCauses, SaltError, traceOf } from '../base/errors.ts'
import { maskSecretWords } from '../base/secret-words.ts'
import { refuseUnencodable } from '../codec/index.ts'
import { tags } from '../events/index.ts'
import {
  boundArguments,
  callsOf,
  createContext,
  type LoadedFunction,
  type Loader,
  makeLoaded,
  maskArguments,
  type PublishedCall,
  type RowTaker,
  splitArguments,
  withoutSecrets,
  withWords,
} from '../loader/index.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { JobLoad } from '../wire/publication.ts'
import {
  makeMultiReturn,
  makeReturn,
  type Outcome,
  type ReturnLoad,
  retcodeOf,
  shownArguments,
} from '../wire/return.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { type Executors, executorOptions } from './executors.ts'
import { tellRows } from './row-teller.ts'

/** What running jobs needs; the same in the minion, in a job process and in `salt-call`. */
export interface RunnerSettings {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Readonly<Record<string, unknown>>
  readonly pillar: Readonly<Record<string, unknown>>
  readonly loader: Loader
  /** Runs functions; without it they are called as they are. */
  readonly executors?: Executors | undefined
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
  words?: JobWords,
): Promise<ReturnLoad> {
  const { fun } = job
  const shown = { ...job, arg: await maskedArguments(job, settings) }
  if (job.arg.length > 0) await settings.onShown?.(shown)
  const outcomes: [string, Outcome][] = []
  for (const call of callsOf({ ...job, words }))
    outcomes.push([call.fun, await runFunction(call, job, settings, signal)])
  if (typeof fun === 'string') return makeReturn(shown, settings.id, outcomes[0]?.[1] as Outcome)
  return makeMultiReturn(shown, settings.id, outcomes, settings.config.multifunc_ordered === true)
}

/**
 * The arguments of a job as they may be shown. Each function is loaded for that, as it is to run it; the module of one
 * that is refused is asked all the same.
 */
export async function maskedArguments(
  job: Pick<JobLoad, 'fun' | 'arg'>,
  { loader, config }: Pick<RunnerSettings, 'config'> & { readonly loader: Pick<Loader, 'get' | 'params'> },
): Promise<readonly unknown[]> {
  const shown = await maskArguments(job, async (fun) => {
    const params = (await loader.get(fun))?.params ?? (await loader.params(fun))
    if (!params) throw new SaltError('FUNCTION_NOT_FOUND', `${fun} is not here.`)
    return params
  })
  return maskSecretWords(shown, config)
}

/** Run one function. Never rejects. */
export async function runFunction(
  { fun: name, arg, words }: PublishedCall,
  job: JobLoad,
  settings: RunnerSettings,
  signal: AbortSignal,
): Promise<Outcome> {
  const context = contextOf(job, settings, signal)
  const shown = (text: string) => withoutSecrets(context.log, text)
  try {
    signal.throwIfAborted()
    const { executors } = settings
    const names = executors?.namesOf(job)
    const found = (await settings.loader.get(name)) ?? (await ranElsewhere(name, names, settings))
    if (!found) return failure('missing', await settings.loader.why(name))
    const given = withWords(splitArguments(arg), words)
    const bound = found.bind(given.args, given.kwargs, { ...job, arg: shownArguments(job.arg) })
    const run = () => found.run(bound, context, rowsOf(job, settings))
    const call = () => ({
      fun: name,
      ...boundArguments(given, found.params, bound),
      ...executorOptions(job),
      run,
    })
    const result = await (names && executors ? executors.execute(names, call(), context) : run())
      // A signal to all processes of a job may end its command before this one has heard of it: that takes one more turn.
      .finally(() => setImmediate())
    signal.throwIfAborted() // what a job gives that was told to end is not what was asked for
    refuseUnencodable(result, 'return')
    const retcode = retcodeOf(result, context.retcode)
    return { return: result ?? null, retcode, success: retcode === 0, ...outputterOf(found) }
  } catch (error) {
    if (signal.aborted) return failure('error', `ERROR: ${messageOf(signal.reason)}`)
    return failure('error', shown(await explain(name, error, settings, shown).catch(() => UNSHOWABLE)))
  }
}

/** Stand in for a function that is not here, and that an executor takes all the same. */
async function ranElsewhere(
  name: string,
  executors: readonly string[] | undefined,
  settings: RunnerSettings,
): Promise<LoadedFunction | undefined> {
  if (!(await settings.executors?.allowMissing(executors, name))) return undefined
  const run = async () => {
    throw new SaltError('INVOCATION', await settings.loader.why(name))
  }
  return makeLoaded(name, { params: { args: p.rest(p.any()), kwargs: p.keywords(p.any()) }, run })
}

const outputterOf = (found: LoadedFunction) => (found.outputter ? { out: found.outputter } : {})

const failure = (failure: 'missing' | 'error', text: string): Outcome => ({
  return: text,
  retcode: 1,
  success: false,
  out: 'nested',
  failure,
})

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

/** Fire each row that a function yields as an event of its own; rows that come together share a request. */
const rowsOf = (job: JobLoad, { id, services }: RunnerSettings): RowTaker =>
  tellRows(async (rows) => {
    const events = rows.map(({ number, row }) => {
      const tag = tags.jobProgress(job.jid, id, number)
      return { tag, data: makeMinionEvent(id, { tag, data: { return: row } }) }
    })
    return services.request(makeMinionEvent(id, { events }))
  })

/** Getters of what was thrown may throw in turn, and so may all that looks at a proxy. */
const UNSHOWABLE = 'The minion function caused an exception: a value that cannot be shown was thrown.'

/** Salt's sentences for what went wrong (wire protocol §10.3). `shown` hides what is secret in a text. */
async function explain(
  name: string,
  error: unknown,
  settings: RunnerSettings,
  shown: (text: string) => string,
): Promise<string> {
  const code = SaltError.is(error) ? error.code : undefined
  const message = messageOf(error)
  if (code === 'INVALID_ARGUMENTS') return withDocumentation(name, message, settings.loader)
  const reasons = messageWithCauses(error)
  if (code === 'INVOCATION') return `ERROR executing '${name}': ${reasons}`
  if (code === 'COMMAND_EXECUTION') return `ERROR: ${reasons}`
  if (code === 'COMMAND_NOT_FOUND') return `Command required for '${name}' not found: ${reasons}`
  if (code === 'CANCELLED' || code === 'RESULT_INVALID' || code === 'ENCODE_FAILED')
    return `ERROR: ${message}`
  await settings.services
    .fireMaster(tags.saltError, {
      message: `The minion function caused an exception`,
      args: [name, shown(message)],
    })
    .catch(() => false)
  return `The minion function caused an exception: ${traceOf(error)}`
}

async function withDocumentation(name: string, message: string, loader: Loader): Promise<string> {
  const prefix = `Passed invalid arguments to ${name}: `
  const text = message.startsWith('Passed invalid arguments') ? message : prefix + message
  const doc = await loader.view.doc(name).catch(() => undefined)
  return doc ? `${text}\n\n${doc}` : text
}
