import type { ResultOf } from '../author/calls.ts'
import type { Context, Job, Log, MasterServices, MinionServices } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { asReceived } from '../codec/index.ts'
import { loadMasterConfig, loadMinionConfig } from '../config/index.ts'
import { createContext, openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { retcodeOf } from '../wire/return.ts'
import { type CallMade, type Fakes, fakingLoader, loadedAs } from './fakes.ts'
import { fakeLog, type LogLine } from './recording-log.ts'
import { type FiredEvent, fakeMaster, fakeMinion } from './services.ts'

type Values = Readonly<Record<string, unknown>>

/** What a function finds where it runs. What is not said is empty, or refused with a sentence that says how to give it. */
export interface Surroundings {
  /** Minion id; `minion` if nothing is said. */
  readonly id?: string
  readonly grains?: Values
  readonly pillar?: Values
  /** Over the defaults of salt-ts; no file is read. */
  readonly opts?: Values
  /** What `call` gives, by name: a result, a function that makes it, another function, or `real`. */
  readonly calls?: Fakes
  /** Of the job, what the function looks at. Without it there is none. */
  readonly job?: Partial<Job>
  /** The function was called by another. */
  readonly nested?: boolean
  readonly signal?: AbortSignal
  readonly minion?: Partial<MinionServices>
  /** Makes it a runner: the function has `context.master` and no `context.minion`. */
  readonly master?: Partial<MasterServices>
  /** Folders with more modules, for calls that are `real`. */
  readonly moduleDirs?: readonly string[]
  /** As what the function is called, for messages. */
  readonly name?: string
}

/** What came of a run. */
export interface Ran<R> {
  readonly result: R
  /** Exit code of the job: what the function set, or its result says. */
  readonly retcode: number
  /** What a function that streams yielded. */
  readonly rows: readonly unknown[]
  readonly log: readonly LogLine[]
  readonly events: readonly FiredEvent[]
  readonly calls: readonly CallMade[]
  readonly context: Context
}

/**
 * Run a function as a minion would: its arguments (a map by name, or a list by position) bound, coerced and validated, its
 * result checked, and given as its caller receives it: a map for an instance of a class, a list for a `Set`, a `DateTime`
 * for a `Date`. Rejects with what the function throws, or the sentence its caller would read.
 *
 * @example const { result } = await run(greet, { name: 'Ada' }, { grains: { os: 'Debian' }, calls: { 'cmd.run': 'hi' } })
 */
export function run<F>(
  tested: F,
  args: readonly unknown[] | Values = [],
  surroundings: Surroundings = {},
): Promise<Ran<ResultOf<F>>> {
  const given = Array.isArray(args) ? { args, kwargs: {} } : { args: [], kwargs: args as Values }
  return runWith(tested, given, surroundings)
}

/** The same, with arguments by position and by name. */
export async function runWith<F>(
  tested: F,
  { args, kwargs }: { readonly args: readonly unknown[]; readonly kwargs: Values },
  surroundings: Surroundings,
): Promise<Ran<ResultOf<F>>> {
  const { name = 'tested.function' } = surroundings
  const { log, lines } = fakeLog()
  const seen = { log: lines, events: [] as FiredEvent[], calls: [] as CallMade[] }
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
  readonly calls: CallMade[]
}

async function contextOf(surroundings: Surroundings, log: Log, seen: Seen): Promise<Context> {
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
      throw only('master', 'runners; a test makes one of a function with { master: {} }')
    },
  }
  const services = fakeMinion(fire, minion ?? {})
  const actual = openLoader('modules', {
    config: { ...opts, module_dirs: [...moduleDirs] },
    grains,
    pillar,
    log,
  })
  const context = createContext(base, fakingLoader(calls, actual, seen.calls))
  return surroundings.nested ? Object.defineProperty(context, 'nested', { value: true }) : context
}

const only = (member: string, whom: string) =>
  new SaltError('INVOCATION', `context.${member} is there for ${whom}.`)

/** The defaults of a minion, or of a master for a runner, with what the test says; of the types they have. */
function optsOf({ id = 'minion', opts = {}, master }: Surroundings): Values {
  const settings = { configDir: '/nonexistent', overrides: { id, ...opts } }
  return (master ? loadMasterConfig(settings) : loadMinionConfig(settings)).config
}
