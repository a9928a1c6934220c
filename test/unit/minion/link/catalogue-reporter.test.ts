import { afterEach, describe, expect, test } from 'vitest'
import { CatalogueReporter, type ReporterSettings } from '../../../../core/minion/link/catalogue-reporter.ts'
import { quietLog } from '../../../harness/log.ts'
import { until } from '../../../harness/until.ts'

const log = quietLog

let reporter: CatalogueReporter
afterEach(() => reporter.close())

/** A master that answers in a way, and what it was told. */
function masterOf(answer: (load: Readonly<Record<string, unknown>>) => unknown, address = 'one:4506') {
  const told: Readonly<Record<string, unknown>>[] = []
  return {
    address,
    told,
    request: async (load: Readonly<Record<string, unknown>>) => {
      told.push(load)
      return answer(load)
    },
  }
}
const knowing = (known: Set<unknown> = new Set()) =>
  masterOf(({ cmd, hash, catalogue }) => {
    if (cmd === '_master_opts') return { file_roots: {}, catalogues: true }
    if (catalogue !== undefined) known.add(hash)
    return { known: known.has(hash) }
  })
const reports = ({ told }: { told: readonly Readonly<Record<string, unknown>>[] }) =>
  told.filter(({ cmd }) => cmd === '_catalogue')

let offered: string[] = []
const description = () =>
  JSON.stringify({ functions: Object.fromEntries(offered.map((name) => [name, {}])), missing: {} })
let stamp = '1'
let changes = 0
function open(settings: Partial<ReporterSettings> = {}): void {
  offered = ['test.ping']
  stamp = '1'
  reporter = new CatalogueReporter({
    id: 'web1',
    describe: async () => description(),
    stamp: async () => stamp,
    onChange: async () => void changes++,
    log,
    settleMs: 1,
    checkMs: 5,
    ...settings,
  })
}

test('a master gets the hash, and the catalogue only if it does not know the hash', async () => {
  open()
  const known = new Set<unknown>()
  const [first, second] = [knowing(known), knowing(known)]
  reporter.connected(first)
  await until('the catalogue to be told', () => reports(first).length === 2)
  expect(reports(first).map(({ cmd, id, catalogue }) => [cmd, id, catalogue !== undefined])).toEqual([
    ['_catalogue', 'web1', false],
    ['_catalogue', 'web1', true],
  ])
  reporter.connected(second)
  await until('the other master to be told', () => reports(second).length > 0)
  expect(reports(second)).toMatchObject([{ hash: reports(first)[0]!.hash }])
  expect(reports(second)[0]).not.toHaveProperty('catalogue')
})

test('only a change of the folders that changes the catalogue is reported', async () => {
  open()
  const master = knowing()
  reporter.connected(master)
  await until('the catalogue to be told', () => reports(master).length === 2)
  stamp = '2' // other files that offer the same
  await until('the other files to be noticed', () => changes === 1)
  expect(reports(master)).toHaveLength(2)
  offered = ['test.ping', 'hello.greet']
  stamp = '3'
  await until('the change to be told and noticed', () => reports(master).length === 4 && changes === 2)
})

test('a master of Python Salt, which has no catalogues, is asked once for each connection, with its answer logged', async () => {
  open()
  const master = masterOf(() => ({ file_roots: {}, default_top: 'base' }))
  reporter.connected(master)
  await until('it to be asked', () => master.told.length === 1)
  offered = []
  reporter.refresh()
  await new Promise((resolve) => setTimeout(resolve, 40))
  expect(master.told).toEqual([{ cmd: '_master_opts', id: 'web1', env_only: true, catalogues: true }])
  reporter.connected(master)
  await until('it to be asked again', () => master.told.length === 2)
})

test('a catalogue that cannot be made, or is too large, is reported as unknown, and the log says why', async () => {
  const fails = async () => {
    throw new Error('no process')
  }
  const large = async () => JSON.stringify({ functions: {}, missing: { large: 'x'.repeat(3_000_000) } })
  for (const [describe, why] of [
    [async () => undefined, 'could not be listed'],
    [fails, 'no process'],
    [large, 'longer than the 2 MB'],
  ] as const) {
    const warnings: string[] = []
    open({ describe, log: { ...log, warn: (message) => void warnings.push(message) } })
    const master = knowing()
    reporter.connected(master)
    await until('the report', () => reports(master).length > 0)
    expect(reports(master)).toEqual([{ cmd: '_catalogue', id: 'web1', hash: null }])
    expect(warnings).toEqual([expect.stringContaining(why)])
    reporter.close()
  }
})

test('a refresh waits until the masters have the catalogue, and not for the delay after changes', async () => {
  const awaited: boolean[] = []
  open({
    settleMs: 60_000,
    describe: async (isAwaited) => {
      awaited.push(isAwaited)
      return description()
    },
  })
  const [first, second] = [knowing(), knowing()]
  for (const master of [first, second]) reporter.connected(master)
  await reporter.refreshNow()
  expect([reports(first).length, reports(second).length]).toEqual([2, 2])
  offered = ['hello.greet']
  await Promise.all([reporter.refreshNow(), reporter.refreshNow(), reporter.refreshNow()])
  expect(reports(first)).toHaveLength(4)
  expect(awaited).toEqual([true, true])
})

test('a refresh does not wait if no master accepts reports', async () => {
  const awaited: boolean[] = []
  open({ describe: async (isAwaited) => void awaited.push(isAwaited) })
  const master = masterOf(() => ({ file_roots: {} }))
  reporter.connected(master)
  await until('it to be asked', () => master.told.length === 1)
  await new Promise((resolve) => setImmediate(resolve))
  await reporter.refreshNow(60_000)
  expect(awaited).toEqual([false])
})

test('a refresh waits for a silent master no longer than its limit, and not for a disconnected one', async () => {
  open()
  const silent = masterOf(() => new Promise(() => {}))
  reporter.connected(silent)
  await reporter.refreshNow(20)
  reporter.disconnected(silent)
  const other = knowing()
  reporter.connected(other)
  await reporter.refreshNow(60_000)
  expect(reports(other)).toHaveLength(2)
})

test('a description that was begun before another one is not reported after it', async () => {
  let release = () => {}
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  open({
    describe: async (isAwaited) => {
      const found = description()
      if (!isAwaited) await slow
      return found
    },
  })
  const master = knowing()
  reporter.connected(master)
  await new Promise((resolve) => setTimeout(resolve, 30)) // it is being described behind everything else
  offered = ['hello.greet']
  await reporter.refreshNow()
  const told = reports(master).length
  release()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(reports(master)).toHaveLength(told)
})

describe('files that were never called', () => {
  const asked: boolean[] = []
  let idle = 0
  function openLazily(settings: Partial<ReporterSettings> = {}): void {
    asked.length = 0
    idle = 0
    open({
      idleMs: 1000,
      idleFor: () => idle,
      describe: async (_, imports) => {
        asked.push(imports)
        return JSON.stringify({ functions: { 'hello.greet': imports ? {} : null }, missing: {} })
      },
      ...settings,
    })
  }

  test('are reported by their text first, and imported once when the minion is idle', async () => {
    openLazily()
    const master = knowing()
    reporter.connected(master)
    await until('the first catalogue', () => reports(master).length === 2)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(asked).toEqual([false])
    idle = 1000
    await until('the second', () => reports(master).length === 4)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(asked).toEqual([false, true])
  })

  test('stay imported in later descriptions while they do not change', async () => {
    openLazily()
    idle = 1000
    const master = knowing()
    reporter.connected(master)
    await until('the catalogue', () => reports(master).length === 2)
    idle = 0
    await reporter.refreshNow()
    stamp = '2'
    await until('the change to be seen', () => asked.length === 3)
    expect(asked).toEqual([true, true, false])
  })

  test('are never imported with catalogue_imports: false', async () => {
    openLazily({ imports: false })
    idle = 60_000
    const master = knowing()
    reporter.connected(master)
    await until('the catalogue', () => reports(master).length === 2)
    await reporter.refreshNow()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(asked).toEqual([false, false])
  })

  test('are not imported for a master that accepts no catalogues', async () => {
    openLazily()
    const master = masterOf(() => ({ file_roots: {} }))
    reporter.connected(master)
    await until('it to be asked', () => master.told.length === 1)
    idle = 1000
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(asked).toEqual([false])
  })
})

test('a failed report is repeated without a change', async () => {
  open()
  let failures = 2
  const known = knowing()
  const master = {
    ...known,
    request: async (load: Readonly<Record<string, unknown>>) => {
      if (load.cmd === '_catalogue' && failures-- > 0) throw new Error('no answer')
      return known.request(load)
    },
  }
  reporter.connected(master)
  await until('the report', () => reports(known).length === 2)
})
