import type { Context, Log, Params } from 'salt-ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'

export interface Line {
  readonly level: keyof Log
  readonly message: string
}

/** A context of a function that is a job of its own, with a log one can read. */
export function fakeContext(overrides: Partial<Context> = {}): Context & { readonly lines: Line[] } {
  const lines: Line[] = []
  const log = recordingLog((level, message) => void lines.push({ level, message }))
  const absent = new Proxy(
    {},
    {
      get: (_, name) => () => {
        throw new Error(`the test gives no ${String(name)}`)
      },
    },
  )
  return {
    opts: {},
    id: 'm1',
    grains: {},
    pillar: {},
    context: new Map(),
    log,
    lines,
    signal: new AbortController().signal,
    nested: false,
    retcode: 0,
    call: () => Promise.reject(new Error('the test gives no call')),
    match: () => Promise.reject(new Error('the test gives no match')),
    loader: absent as Context['loader'],
    minion: absent as Context['minion'],
    master: absent as Context['master'],
    ...overrides,
  }
}

/** A function with whatever parameters. */
export interface AnyFn {
  readonly params: Params
  run(args: never, context: Context): unknown
}

/** Call a function by name of its parameters, as the loader would after binding: defaults filled in. */
export async function call(
  { params, run }: AnyFn,
  given: Readonly<Record<string, unknown>> = {},
  context: Context = fakeContext(),
): Promise<unknown> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(params, name))
  if (unknown && !Object.values(params).some(({ kind }) => kind === 'keywords')) {
    throw new Error(`${unknown} is no parameter`)
  }
  const empty = { value: undefined, rest: [], keywords: {} }
  const args = Object.entries(params).map(([name, { kind, default: fallback }]) => [
    name,
    given[name] ?? fallback ?? empty[kind],
  ])
  return run(Object.fromEntries(args) as never, context)
}
