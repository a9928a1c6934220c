/** Engines of a real master and a real minion: they run, receive and fire events, and are restarted when they end. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventBus } from '../../core/events/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { stepsOf } from '../harness/guide.ts'
import { isAlive } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

const guide = new URL('../../docs/write-an-engine.md', import.meta.url)
const relay = stepsOf(guide).flatMap((step) => ('file' in step ? [step.text] : []))[0] as string

/**
 * An engine that ends as its events want it to, and says who it is. What it logs no message between processes can carry. It is
 * JavaScript, which its many processes load sooner than TypeScript.
 */
const moody = (version: string) => `
import { engine, p } from 'salt-ts'
const refuse = () => { throw new Error('not to be looked at') }
export default engine({
  options: { place: p.default(p.string(), 'moody'), token: p.secret(p.default(p.string(), 'open sesame')) },
  async start({ options: { place, token }, events, log, role, id, signal }) {
    const heard = events.listen(place + '/')
    log.info(place + ' listens with ' + token, { heard: () => heard })
    await events.fireMaster(place + '/begun', { role, id, pid: process.pid, version: '${version}' })
    for await (const { tag, data } of heard) {
      if (tag.endsWith('/return')) return
      if (tag.endsWith('/throw')) throw new Error('on purpose with ' + token)
      if (tag.endsWith('/exit')) process.exit(3)
      if (tag.endsWith('/abort')) process.abort()
      if (tag.endsWith('/proxy')) throw new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse })
      if (tag.endsWith('/stray')) setTimeout(() => { throw new Error('in a timer') })
      if (tag.endsWith('/hang')) await new Promise(() => setInterval(() => {}, 1000))
    }
    await events.fireMaster(place + '/over', { aborted: signal.aborted })
  },
})
`

/** Ways in which an engine ends by itself. */
const ways = ['return', 'throw', 'exit', 'stray', 'signal', 'abort', 'proxy']

const enginesAtFirst = [
  { relay: { from: 'told/' } },
  { changing: { place: 'first' } },
  { nosuch: {} },
  { wrong: { engine_module: 'relay' } },
]

let cluster: Cluster
let files: string
let engines: string
let bus: EventBus

beforeAll(async () => {
  files = await temporaryFolder('salt-engines-')
  engines = join(files, 'engines')
  await mkdir(engines)
  await mkdir(join(files, '_engines'))
  await writeFile(join(engines, 'relay.ts'), relay)
  for (const name of ['moody.js', 'changing.js']) await writeFile(join(engines, name), moody('first'))
  cluster = await Cluster.open({
    master: {
      file_roots: { base: [files] },
      engines_dirs: [engines],
      engines: enginesAtFirst,
    },
  })
  bus = await cluster.events()
})
afterAll(async () => {
  await bus?.close()
  await cluster?.close()
  await removeFolder(files)
})

/** Act once the tag is listened for. Gives the data of the first event with it that is meant. */
async function next(
  tag: string,
  act: () => Promise<unknown> | unknown,
  isMeant: (data: Record<string, unknown>) => boolean = () => true,
): Promise<Record<string, unknown>> {
  const abort = new AbortController()
  const events = bus.subscribe(tag, abort.signal)
  await act()
  for await (const { data } of events) {
    if (!isMeant(data)) continue
    abort.abort()
    return data
  }
  return expect.fail(`The event bus ended before ${tag}.`)
}

/** Fire events until the engine relays one: a daemon does not say when its engines listen. */
async function relays(to: string, from: string): Promise<Record<string, unknown>> {
  const abort = new AbortController()
  const events = bus.subscribe(to, abort.signal)
  let heard: Record<string, unknown> | undefined
  void (async () => {
    for await (const { data } of events) heard ??= data
  })()
  await until(`an event ${to}`, async () => {
    await bus.fire(from, { n: 1 })
    return heard !== undefined
  })
  abort.abort()
  return heard as Record<string, unknown>
}

const restarts = (daemon: Daemon, name: string) => daemon.output.split(`Starting Engine(${name})`).length - 1
const hup = (daemon: Daemon) => process.kill(daemon.pid, 'SIGHUP')

test('a master runs the engines of its configuration, with their options', async () => {
  expect(await relays('relayed', 'told/something')).toMatchObject({
    tag: 'told/something',
    data: { n: 1 },
  })
})

test('an engine that cannot be used is logged as an error once, and does not delay the others', async () => {
  const { master } = cluster
  await master.logged("Engine(nosuch) is not started: There is no 'nosuch' in the engines. Available:")
  await master.logged("Engine(wrong) is not started: it needs the option 'from' below wrong in 'engines'.")
  expect(restarts(master, 'nosuch')).toBe(1)
})

test('an engine whose file changes is restarted with the new code', async () => {
  const change = () => writeFile(join(engines, 'changing.js'), moody('second'))
  const begun = await next('first/begun', change, ({ version }) => version !== 'first')
  expect(begun).toMatchObject({ version: 'second' })
})

describe('an engine', () => {
  // A master starts all its engines again when the file of one changes: these are started after that.
  beforeAll(async () => {
    const byThemselves = ways.map((place) => ({ [`by-${place}`]: { engine_module: 'moody', place } }))
    await cluster.master.writeConfig({ engines: [...enginesAtFirst, ...byThemselves] })
    hup(cluster.master)
  })

  test.each([
    ['return', 'it returned'],
    ['throw', 'Error: on purpose with **********'],
    ['exit', 'its process ended with exit code 3'],
    ['stray', 'Error: in a timer'],
    ['abort', 'its process was ended by SIGABRT'],
    ['proxy', 'a value that cannot be shown was thrown'],
  ])('an engine that ends by %s is restarted, and the log says why', async (way, why) => {
    await cluster.master.logged(`${way} listens`)
    const begun = await next(`${way}/begun`, () => bus.fire(`${way}/${way}`, {}))
    expect(begun).toMatchObject({ role: 'master', version: 'first' })
    await cluster.master.logged(why)
    expect(cluster.master.output).toMatch(
      new RegExp(`Engine\\(by-${way}\\) has ended and will be restarted in \\d\\.\\d seconds: `),
    )
    expect(cluster.master.output).not.toContain('stack trace')
    expect(cluster.master.output).not.toContain('open sesame')
  })

  test('an engine that is killed is restarted', async () => {
    await cluster.master.logged('signal listens')
    const { pid } = await next('signal/begun', () => bus.fire('signal/return', {}))
    const again = await next('signal/begun', () => process.kill(Number(pid), 'SIGKILL'))
    expect(again.pid).not.toBe(pid)
    await cluster.master.logged('its process was ended by SIGKILL')
  })
})

test('SIGHUP starts and stops engines as the new configuration says, and leaves unchanged ones running', async () => {
  const { master } = cluster
  const [relayed] = [restarts(master, 'relay')]
  await master.writeConfig({
    engines: [{ relay: { from: 'told/' } }, { second: { engine_module: 'moody', place: 'second' } }],
  })
  const over = next('first/over', () => {})
  expect(await next('second/begun', () => hup(master))).toMatchObject({ role: 'master' })
  expect(await over).toMatchObject({ aborted: true })
  expect(await relays('relayed', 'told/again')).toMatchObject({ data: { n: 1 } })
  expect(restarts(master, 'relay')).toBe(relayed)
})

test('a minion runs the engines that saltutil.sync_engines brings, and passes their events to the master', async () => {
  await writeFile(join(files, '_engines/moody.js'), moody('synced'))
  const client = await cluster.client()
  const minion = await cluster.addMinion('web1', { engines: { moody: { place: 'far' }, test: null } })
  await minion.logged('far listens') // brought by the sync of the start
  const sync = async () => {
    await writeFile(join(files, '_engines/moody.js'), moody('synced again'))
    const synced = await returnsOf(client, { tgt: 'web1', fun: 'saltutil.sync_engines' })
    expect(synced.web1).toContain('engines.moody')
  }
  const isAgain = ({ data }: Record<string, unknown>) =>
    (data as { version: string }).version === 'synced again'
  const begun = await next('far/begun', sync, isAgain)
  expect(begun).toMatchObject({ id: 'web1', data: { role: 'minion' } })
  const { pid } = begun.data as { pid: number }
  await returnsOf(client, { tgt: 'web1', fun: 'event.fire', arg: [{}, 'far/hang'] })
  await client.close()
  await minion.stop()
  expect(isAlive(pid)).toBe(false)
})

test('a daemon that ends leaves no engine running', async () => {
  await cluster.master.logged('second listens')
  const { pid } = await next('second/begun', () => bus.fire('second/return', {}))
  await cluster.master.stop()
  expect(isAlive(Number(pid))).toBe(false)
  expect(await readFile(join(engines, 'relay.ts'), 'utf8')).toBe(relay)
})
