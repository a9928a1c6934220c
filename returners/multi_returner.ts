/**
 * Writes to several returners, and reads from the first that has the data: `multi_returner: [local_cache, mysql]`. If one of them
 * refuses a record, it is written to all again, so returners that send mails or append lines repeat it.
 */
import { type LoadRecord, type Log, type Returner, returner, UnsavableError } from 'salt-ts'

interface Member {
  readonly name: string
  readonly store: Returner
}
type Method = keyof Returner
type MethodCall = (...args: unknown[]) => Promise<unknown>

const WRITES = [
  'prepJid',
  'saveLoad',
  'saveMinions',
  'saveEvents',
  'updateEndtime',
  'cleanOldJobs',
  'remove',
] as const
const READS = ['getLoad', 'getJid', 'getFun', 'getJidsFilter', 'getMinions'] as const

export default returner({
  options: {},
  async create({ opts, open, log }) {
    const members = await openAll(namesIn(opts.multi_returner), open)
    const those = (method: Method) => members.filter(({ store }) => store[method])
    /** Implement those of the methods that at least one member has. */
    const only = (methods: readonly Method[], call: (method: Method) => MethodCall): Partial<Returner> =>
      Object.fromEntries(
        methods.filter((method) => those(method).length > 0).map((each) => [each, call(each)]),
      )
    return {
      ...only(
        WRITES,
        (method) =>
          (...args) =>
            toAll(those(method), (store) => callOf(store, method)(...args)),
      ),
      ...only(READS, (method) => (...args) => {
        return fromFirst(those(method), (store) => callOf(store, method)(...args), log)
      }),
      ...only(['getJids'], () => () => jidsOf(those('getJids')) as never),
      idempotent: members.every(({ store }) => store.idempotent !== false),
      save: (ret) => toAll(members, (store) => store.save(ret)),
      saveBatch: (rets) =>
        toAll(members, async (store) => {
          if (store.saveBatch) await store.saveBatch(rets)
          else for (const ret of rets) await store.save(ret)
        }),
      async migrate() {
        const done: string[] = []
        for (const { name, store } of those('migrate'))
          for (const sentence of (await store.migrate?.()) ?? []) done.push(`${name}: ${sentence}`)
        return done
      },
      close: () => closeAll(members),
    }
  },
})

const callOf = (store: Returner, method: Method): MethodCall => (store[method] as MethodCall).bind(store)

function namesIn(value: unknown): readonly string[] {
  const names = Array.isArray(value) ? value : []
  const wrong = names.find((name) => typeof name !== 'string' || name === 'multi_returner')
  if (names.length > 0 && wrong === undefined) return names
  throw new Error(
    'multi_returner in the configuration must be a list of other returners, like [local_cache, mysql].',
  )
}

async function openAll(
  names: readonly string[],
  open: (name: string) => Promise<Returner>,
): Promise<Member[]> {
  const members: Member[] = []
  try {
    for (const name of names) members.push({ name, store: await open(name) })
  } catch (error) {
    await closeAll(members)
    throw error
  }
  return members
}

const closeAll = (members: readonly Member[]) => toAll(members, async (store) => store.close?.())

/** Write to all members, even if some fail. The error is an UnsavableError only if all failures are. */
async function toAll(
  members: readonly Member[],
  write: (store: Returner) => Promise<unknown>,
): Promise<void> {
  const results = await Promise.allSettled(members.map(({ store }) => write(store)))
  const failures = results.flatMap((result, index) =>
    result.status === 'rejected' ? [{ name: members[index]?.name, error: result.reason as Error }] : [],
  )
  if (failures.length === 0) return
  const message = failures.map(({ name, error }) => `${name}: ${error.message}`).join(' ')
  if (failures.every(({ error }) => 'code' in error && error.code === 'UNSAVABLE'))
    throw new UnsavableError(message)
  throw new Error(message, { cause: failures[0]?.error })
}

/** Return the result of the first member that has any; rejects if all fail. */
async function fromFirst(
  members: readonly Member[],
  read: (store: Returner) => Promise<unknown>,
  log: Log,
): Promise<unknown> {
  let nothing: { readonly found: unknown } | undefined
  let failure: unknown
  for (const { name, store } of members) {
    try {
      const found = await read(store)
      if (found !== undefined && !(Array.isArray(found) && found.length === 0)) return found
      nothing = { found }
    } catch (error) {
      failure = error
      log.warn(`The returner ${name} could not be read, trying the next one: ${(error as Error).message}`)
    }
  }
  if (!nothing) throw failure
  return nothing.found
}

async function* jidsOf(members: readonly Member[]): AsyncGenerator<LoadRecord> {
  for (const { store } of members) {
    let any = false
    for await (const job of store.getJids?.() ?? []) {
      any = true
      yield job
    }
    if (any) return
  }
}
