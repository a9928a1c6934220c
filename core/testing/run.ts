import type { ResultOf } from '../author/calls.ts'
import type { Context, Job, Log, MasterServices, MinionServices } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { asReceived } from '../codec/index.ts'
import { loadMasterConfig, loadMinionConfig } from '../config/index.ts'
import { createContext, openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { retcodeOf } from '../wire/return.ts'
import { createFakeLoader, type Fakes, loadedAs, type RecordedCall } from './fakes.ts'
import { fakeLog, type LogLine } from './recording-log.ts'
import { type FakeMaster, type FiredEvent, fakeMaster, fakeMinion } from './services.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * The environment of a tested function. Members left out are empty, or using them fails with a message that says how to
 * provide them.
 */
export interface RunSettings {
  /** The minion id; `minion` by default. */
  readonly id?: string
  readonly grains?: Values
  readonly pillar?: Values
  /** Options that override the defaults of salt-ts; no file is read. */
  readonly opts?: Values
  /** The functions for `call`, by name: a result, a function that returns it, a function made by `fn`, or `real`. */
  readonly calls?: Fakes
  /** The members of the job that the function reads. Without this there is no job. */
  readonly job?: Partial<Job>
  /** Whether another function called the tested one. */
  readonly nested?: boolean
  readonly signal?: AbortSignal
  readonly minion?: Partial<MinionServices>
  /** Makes the function a runner, with `context.master` and without `context.minion`. */
  readonly master?: FakeMaster
  /** Directories with further modules, for calls that are `real`. */
  readonly moduleDirs?: readonly string[]
  /** The name of the function in messages. */
  readonly name?: string
}

/** The outcome of a run. */
export interface RunResult<R> {
  readonly result: R
  /** Exit code of the job, as set by the function or derived from its result. */
  readonly retcode: number
  /** The values that a generator yielded. */
  readonly rows: readonly unknown[]
  readonly log: readonly LogLine[]
  readonly events: readonly FiredEvent[]
  readonly calls: readonly RecordedCall[]
  readonly context: Context
}

/**
 * Run a function as a minion would: its arguments (a map by name, or a list by position) are bound, coerced and validated,
 * and its result is checked and converted as for its caller: a map for an instance of a class, a list for a `Set`, a
 * `DateTime` for a `Date`. Rejects with the error of the function, or the message that its caller would receive.
 *
 * @example const { result } = await run(greet, { name: 'Ada' }, { grains: { os: 'Debian' }, calls: { 'cmd.run': 'hi' } })
 */
export function run<F>(
  tested: F,
  args: readonly unknown[] | Values = [],
  surroundings: RunSettings = {},
): Promise<RunResult<ResultOf<F>>> {
  const given = Array.isArray(args) ? { args, kwargs: {} } : { args: [], kwargs: args as Values }
  return runWith(tested, given, surroundings)
}

/** Run a function as {@link run} does, with arguments by position and by name. */
export async function runWith<F>(
  tested: F,
  { args, kwargs }: { readonly args: readonly unknown[]; readonly kwargs: Values },
  surroundings: RunSettings,
): Promise<RunResult<ResultOf<F>>> {
  const { name = 'tested.function' } = surroundings
  const { log, lines } = fakeLog()
  const seen = { log: lines, events: [] as FiredEvent[], calls: [] as RecordedCall[] }
  const context = await contextOf(surroundings, log, seen)
  const found = loadedAs(name, tested)
  const bound = found.bind(args, kwargs, surroundings.job)
  const rows: unknown[] = []
  const take = async (row: unknown) => void rows.push(asReceived(row, 'row'))
  const result = await found.run(bound, context, { take })
  return {
    ...seen,
    result: asReceived(result, 'return') as ResultOf<F>,
    rows,
    context,
    retcode: retcodeOf(result, context.retcode),
  }
}

interface Seen {
  readonly events: FiredEvent[]
  readonly calls: RecordedCall[]
}

async function contextOf(surroundings: RunSettings, log: Log, seen: Seen): Promise<Context> {
  const { grains = {}, pillar = {}, calls = {}, moduleDirs = [], job, signal, minion, master } = surroundings
  const opts = optsOf(surroundings)
  const id = String(opts.id)
  const fire = (event: FiredEvent) => seen.events.push(event) > 0
  const host = master && fakeMaster(fire, master)
  const base = {
    opts,
    id,
    grains,
    pillar,
    context: new Map<string, unknown>(),
    log,
    signal: signal ?? new AbortController().signal,
    ...(job && {
      job: { jid: '20260101000000000000', fun: '', arg: [], tgt: id, tgt_type: 'glob', ret: '', ...job },
    }),
    retcode: 0,
    match: await openMatch({ config: opts, id, grains, pillar, log }),
    get minion(): MinionServices {
      if (master) throw only('minion', 'functions that run on a minion; this is a runner')
      return services
    },
    get master(): MasterServices {
      if (host) return host
      throw only('master', 'runners; a test runs a function as one with { master: {} }')
    },
  }
  const services = fakeMinion(fire, minion ?? {})
  const actual = openLoader('modules', {
    config: { ...opts, module_dirs: [...moduleDirs] },
    grains,
    pillar,
    log,
  })
  const context = createContext(base, createFakeLoader(calls, actual, seen.calls))
  return surroundings.nested ? Object.defineProperty(context, 'nested', { value: true }) : context
}

const only = (member: string, functions: string) =>
  new SaltError('INVOCATION', `context.${member} is available to ${functions}.`)

/** Return the options: the defaults of a minion, or of a master for a runner, overridden by those of the test. */
function optsOf({ id = 'minion', opts = {}, master }: RunSettings): Values {
  const settings = { configDir: '/nonexistent', overrides: { id, ...opts } }
  return (master ? loadMasterConfig(settings) : loadMinionConfig(settings)).config
}
