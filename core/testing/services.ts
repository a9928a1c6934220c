/**
 * Replacements for the services of the minion and the master of a tested function. They do nothing, but record events.
 */
import type {
  MasterServices,
  MinionServices,
  RunRequest,
  RunResult,
  StoredReturn,
} from '../author/context.ts'
import type { FileClient } from '../author/files.ts'
import type {
  AccessAdmin,
  JobArchive,
  KeyAdmin,
  MasterCache,
  ReturnerAdmin,
  TokenAdmin,
} from '../author/master.ts'
import { SaltError } from '../base/errors.ts'

/** An event that was fired, and the bus. */
export interface FiredEvent {
  readonly bus: 'minion' | 'master'
  readonly tag: string
  readonly data: unknown
}

type Fire = (event: FiredEvent) => boolean

export function fakeMinion(fire: Fire, given: Partial<MinionServices>): MinionServices {
  return {
    fire: async (tag, data) => fire({ bus: 'minion', tag, data }),
    fireMaster: async (tag, data, { pretag } = {}) =>
      fire({ bus: 'master', tag: pretag ? `${pretag}/${tag}` : tag, data }),
    request: async (load) => {
      throw missing(
        `minion.request({ cmd: '${String(load.cmd)}' })`,
        'minion: { request: async (load) => … }',
      )
    },
    running: async () => [],
    signalJob: async () => '',
    cancelJob: async () => false,
    refreshModules: async () => true,
    refreshGrains: async () => true,
    clearJobCache: async () => true,
    findCachedJob: async () => null,
    readData: async () => ({}),
    dataKeys: async () => [],
    changeData: async () => true,
    files: noFiles,
    sync: async () => ({}),
    ...given,
  }
}

/** Services of a master's host in a test. Results of `run` need no `state`: without `missing` they have returned. */
export type FakeMaster = Omit<Partial<MasterServices>, 'run'> & {
  run?(request: FakeRequest): AsyncIterable<FakeResult>
}
type FakeRequest = RunRequest & {
  readonly fun: string | readonly string[]
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>> | undefined
}
type FakeResult = Omit<StoredReturn, 'state'> & {
  readonly state?: RunResult['state']
  readonly missing?: string | undefined
}

function fakeRun(run: FakeMaster['run']): MasterServices['run'] {
  async function* results(request: FakeRequest): AsyncGenerator<RunResult> {
    if (!run)
      throw missing(
        `master.run({ fun: '${String(request.fun)}' })`,
        'master: { async *run(request) { yield … } }',
      )
    for await (const { state, ...result } of run(request))
      yield {
        ...result,
        state: state ?? (result.missing === undefined ? 'returned' : 'missing'),
      } as RunResult
  }
  return results as MasterServices['run']
}

export function fakeMaster(fire: Fire, { run, ...given }: FakeMaster): MasterServices {
  return {
    run: fakeRun(run),
    fire: async (tag, data) => fire({ bus: 'master', tag, data }),
    async *events() {},
    jobs: {
      get: async () => undefined,
      returns: async () => [],
      unreturned: async () => [],
      waiting: async () => [],
      cancel: async () => ({ cancelled: [], expired: [] }),
      async *list() {},
      archive: noArchive,
    },
    progress: async (data) => void fire({ bus: 'master', tag: 'salt/run/progress', data }),
    match: async () => ({ minions: [], unknown: [], missing: [] }),
    call: async (fun) => {
      throw missing(`master.call('${fun}')`, 'master: { call: async (fun, args) => … }')
    },
    running: async () => [],
    killRun: async () => false,
    cache: fakeCache(),
    mine: { get: async () => ({}), entries: async () => ({}), remove: async () => 0 },
    keys: noKeys,
    tokens: noTokens,
    access: noAccess,
    audit: {
      verify: async () => ({ valid: true, lines: 0, files: {}, problems: [], notes: [] }),
      list: async () => [],
    },
    writeConfig: async (name) => `${name}.conf`,
    returners: noReturners,
    batches: { async *list() {}, get: async () => undefined, stop: async () => false },
    acceptedIds: async () => [],
    cachedGrains: async () => undefined,
    connectedIds: async () => [],
    fileServer: {
      envs: async () => ({}),
      list: async () => ({ files: [], dirs: [], emptyDirs: [], links: {} }),
      clearListCache: async () => ({}),
    },
    sync: async () => ({}),
    ...given,
  }
}

const noFiles = new Proxy({} as FileClient, {
  get: (_, name) => async () => {
    throw missing(`minion.files.${String(name)}()`, 'minion: { files: { … } }')
  },
})

const noKeys = new Proxy({} as KeyAdmin, {
  get: (_, name) => async () => {
    throw missing(`master.keys.${String(name)}()`, 'master: { keys: { … } }')
  },
})

const noArchive = new Proxy({} as JobArchive, {
  get: (_, name) => async () => {
    throw missing(`master.jobs.archive.${String(name)}()`, 'master: { jobs: { … } }')
  },
})

const noReturners = new Proxy({} as ReturnerAdmin, {
  get: (_, name) => async () => {
    throw missing(`master.returners.${String(name)}()`, 'master: { returners: { … } }')
  },
})

const noTokens = new Proxy({} as TokenAdmin, {
  get: (_, name) => async () => {
    throw missing(`master.tokens.${String(name)}()`, 'master: { tokens: { … } }')
  },
})

const noAccess = new Proxy({} as AccessAdmin, {
  get: (_, name) => async () => {
    throw missing(`master.access.${String(name)}()`, 'master: { access: { … } }')
  },
})

/** Return a data cache in memory. */
function fakeCache(): MasterCache {
  const values = new Map<string, unknown>()
  const below = (bank: string) => [...values.keys()].filter((path) => path.startsWith(`${bank}/`))
  return {
    list: async (bank) => [
      ...new Set(below(bank).map((path) => path.slice(bank.length + 1).split('/')[0] as string)),
    ],
    fetch: async (bank, key) => values.get(`${bank}/${key}`),
    store: async (bank, key, data) => void values.set(`${bank}/${key}`, data),
    flush: async (bank, key) => {
      const paths = key === undefined ? below(bank) : [`${bank}/${key}`]
      return paths.filter((path) => values.delete(path)).length > 0
    },
  }
}

const missing = (what: string, how: string) =>
  new SaltError('INVOCATION', `The test does not provide context.${what}: pass { ${how} }.`)
