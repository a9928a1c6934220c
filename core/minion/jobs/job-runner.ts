import { setImmediate } from 'node:timers/promises'
import type { Context, Job, Log, MasterServices, MinionServices } from '../../author/context.ts'
import { p } from '../../author/params.ts'
import { messageOf, messageWithCauses, SaltError, traceOf } from '../../base/errors.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import { refuseUnencodable } from '../../codec/index.ts'
import { tags } from '../../events/index.ts'
import {
  boundArguments,
  callsOf,
  createContext,
  type LoadedFunction,
  type Loader,
  makeLoaded,
  maskArguments,
  type PublishedCall,
  type RowSink,
  splitArguments,
  withoutSecrets,
  withWords,
} from '../../loader/index.ts'
import { makeMinionEvent } from '../../wire/minion-event.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import {
  argumentsForReturn,
  type JobResult,
  makeMultiReturn,
  makeReturn,
  type ReturnLoad,
  retcodeOf,
} from '../../wire/return.ts'
import { type Executors, executorOptions } from './executors.ts'
import { errorText, failedOutcome } from './failed-return.ts'
import { sendRows } from './send-rows.ts'

/** Settings for running jobs in the minion, in a job process and in `salt-call`. */
export interface RunnerSettings {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Readonly<Record<string, unknown>>
  readonly pillar: Readonly<Record<string, unknown>>
  readonly loader: Loader
  /** Runs functions. Without it they are called directly. */
  readonly executors?: Executors | undefined
  readonly services: MinionServices
  readonly match: Context['match']
  readonly log: Log
  /** Called before a job with arguments runs, with the job whose secret arguments are masked. */
  readonly onShown?: ((job: JobLoad) => Promise<void>) | undefined
}

/** Run every function of a job. Resolves with its return, which also contains errors. Never rejects. */
export async function executeJob(
  job: JobLoad,
  settings: RunnerSettings,
  signal: AbortSignal,
  words?: RawArguments,
): Promise<ReturnLoad> {
  const { fun } = job
  const shown = { ...job, arg: await maskedArguments(job, settings) }
  if (job.arg.length > 0) await settings.onShown?.(shown)
  const outcomes: [string, JobResult][] = []
  for (const call of callsOf({ ...job, words }))
    outcomes.push([call.fun, await runFunction(call, job, settings, signal)])
  if (typeof fun === 'string') return makeReturn(shown, settings.id, outcomes[0]?.[1] as JobResult)
  return makeMultiReturn(shown, settings.id, outcomes, settings.config.multifunc_ordered === true)
}

/**
 * Return the arguments of a job with the secret ones masked. Each function is loaded to find which are secret; if it does not
 * load, the parameters that its module declares are used.
 */
export async function maskedArguments(
  job: Pick<JobLoad, 'fun' | 'arg'>,
  { loader, config }: Pick<RunnerSettings, 'config'> & { readonly loader: Pick<Loader, 'get' | 'params'> },
): Promise<readonly unknown[]> {
  const shown = await maskArguments(job, async (fun) => {
    const params = (await loader.get(fun))?.params ?? (await loader.params(fun))
    if (!params) throw new SaltError('FUNCTION_NOT_FOUND', `The function ${fun} is not available.`)
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
): Promise<JobResult> {
  const context = contextOf(job, settings, signal)
  const shown = (text: string) => withoutSecrets(context.log, text)
  try {
    signal.throwIfAborted()
    const { executors } = settings
    const names = executors?.namesOf(job)
    const found = (await settings.loader.get(name)) ?? (await ranElsewhere(name, names, settings))
    if (!found) return failedOutcome(await settings.loader.why(name), 'missing')
    const given = withWords(splitArguments(arg), words)
    const bound = found.bind(given.args, given.kwargs, { ...job, arg: argumentsForReturn(job.arg) })
    const run = () => found.run(bound, context, rowsOf(job, settings))
    const call = () => ({
      fun: name,
      ...boundArguments(given, found.params, bound),
      ...executorOptions(job),
      run,
    })
    const result = await (names && executors ? executors.execute(names, call(), context) : run())
      // A signal to the process group may end a command before this process handles the signal: wait for one more loop turn.
      .finally(() => setImmediate())
    signal.throwIfAborted() // the result of an aborted function is incomplete
    refuseUnencodable(result, 'return')
    const retcode = retcodeOf(result, context.retcode)
    return { return: result ?? null, retcode, success: retcode === 0, ...outputterOf(found) }
  } catch (error) {
    if (signal.aborted) return failedOutcome(errorText(messageOf(signal.reason)))
    return failedOutcome(shown(await explain(name, error, settings, shown).catch(() => UNSHOWABLE)))
  }
}

/** Return a placeholder for a missing function that an executor accepts. */
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
        'context.master is available to runners only; this function runs on a minion.',
      )
    },
  }
  return createContext(base, loader)
}

/** Fire one event for each row that a function yields. Rows that arrive close together share a request. */
const rowsOf = (job: JobLoad, { id, services }: RunnerSettings): RowSink =>
  sendRows(async (rows) => {
    const events = rows.map(({ number, row }) => {
      const tag = tags.jobProgress(job.jid, id, number)
      return { tag, data: makeMinionEvent(id, { tag, data: { return: row } }) }
    })
    return services.request(makeMinionEvent(id, { events }))
  })

/** Text for a thrown value whose getters or proxy traps throw when it is formatted. */
const UNSHOWABLE = 'The minion function caused an exception: a value that cannot be shown was thrown.'

/** Return Salt's text for an error (wire protocol §10.3). `shown` masks secrets in a text. */
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
  if (code === 'COMMAND_EXECUTION') return errorText(reasons)
  if (code === 'COMMAND_NOT_FOUND') return `Command required for '${name}' not found: ${reasons}`
  if (code === 'CANCELLED' || code === 'RESULT_INVALID' || code === 'ENCODE_FAILED') return errorText(message)
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
  const help = await loader.view.help(name).catch(() => undefined)
  return help ? `${text}\n\n${help}` : text
}
