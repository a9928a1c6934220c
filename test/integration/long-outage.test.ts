/**
 * Ten minutes without a master, in seconds: the minion's real link, deliverer and spool on disk over the memory
 * transport, a real master's worker with its stores, and timers that run as fast as they can.
 */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadMinionConfig, type MinionConfig } from '../../core/config/index.ts'
import { tags } from '../../core/events/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { Deliverer } from '../../core/minion/jobs/deliverer.ts'
import { MasterConnection } from '../../core/minion/link/master-connection.ts'
import type { RequestServer } from '../../core/transport/contract.ts'
import { getTransport } from '../../core/transport/index.ts'
import { serveRequests } from '../../core/transport/serve-requests.ts'
import { makeReturn } from '../../core/wire/return.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { quietLog } from '../harness/log.ts'

const ID = 'wire1'
const PORT = 4506
const memory = getTransport('memory')

let root: string
/** Requests the master works on, and what the minion writes to its disk: time stands still meanwhile. */
let working = 0
let master: InProcessMaster
let server: RequestServer | undefined
let minion: { close(): Promise<void>; finish(job: number): Promise<void>; owed(): number }

/** As many jobs as ended, in the order they did. */
const jidOf = (job: number) => `202611211200${String(job).padStart(8, '0')}`
const loadOf = (job: number) => ({
  fun: 'test.echo',
  arg: [job],
  tgt: '*',
  tgt_type: 'glob',
  jid: jidOf(job),
  ret: '',
})

async function serve(): Promise<void> {
  server = await serveRequests(memory, { host: 'master', port: PORT })
  server.serve(async (frame) => {
    working++
    return master.answer(frame).finally(() => working--)
  })
}

async function vanish(): Promise<void> {
  await server?.close()
  server = undefined
}

/** What of a minion has to do with returns, with the same files at every start. */
async function startMinion(): Promise<typeof minion> {
  const overrides = {
    root_dir: root,
    cachedir: '/cache',
    pki_dir: '/pki',
    id: ID,
    master: 'master',
    random_reauth_delay: 0,
  }
  const { config } = loadMinionConfig({ configDir: root, overrides })
  const link = await openLink(config)
  const spool = ReturnSpool.open(join(root, 'spool'))
  const { return_retry_timer: min, return_retry_timer_max: max } = config
  const send = (ret: Readonly<Record<string, unknown>>) => link.request(ret)
  const done: ReturnSpool['done'] = (entry) => {
    working++
    return spool.done(entry).finally(() => working--)
  }
  const deliverer = new Deliverer({
    spool: {
      done,
      read: (entry) => spool.read(entry),
      replace: (entry, change) => spool.replace(entry, change),
    },
    spooled: spool.pending(),
    send,
    log: quietLog,
    retry: { min, max },
  })
  return {
    owed: () => spool.pending().length,
    async finish(job) {
      const ret = makeReturn(loadOf(job), ID, { return: job, retcode: 0, success: true })
      deliverer.deliver(await spool.add({ jid: jidOf(job), ret }))
    },
    async close() {
      const closed = deliverer.close(0)
      await vi.advanceTimersByTimeAsync(1)
      await closed
      await link.close()
      await spool.close()
    },
  }
}

async function openLink(config: MinionConfig): Promise<MasterConnection> {
  return new MasterConnection({
    config,
    id: ID,
    key: await keyPair(ID),
    known: { read: async () => undefined, write: async () => {} },
    signingKey: undefined,
    transport: memory,
    address: { text: 'master', transport: 'zeromq', namesTransport: false, host: 'master', port: PORT },
    grains: () => ({}),
    log: quietLog,
    onJob: () => {},
    onReady: async () => {},
    now: Date.now,
  })
}

const realTimeout = setTimeout
/** Of real time for each second; disks do not run faster than they can. */
const REAL_MS = 4

/** Let so many seconds pass, or fewer if it is enough before; gives how many. */
async function pass(seconds: number, enough: () => boolean = () => false): Promise<number> {
  for (let passed = 0; passed < seconds; passed++) {
    if (enough()) return passed
    await vi.advanceTimersByTimeAsync(1000)
    master.now = Date.now()
    await new Promise((resolve) => realTimeout(resolve, REAL_MS))
    while (!enough() && working > 0) await new Promise((resolve) => realTimeout(resolve, 1))
  }
  return seconds
}

const rows = () =>
  Array.from({ length: JOBS }, (_, job) => master.context.jobs.return(jidOf(job), ID)?.return)
const JOBS = 500

beforeEach(async () => {
  root = await temporaryFolder('salt-outage-')
  master = await InProcessMaster.open()
  await master.file(ID, (await keyPair(ID)).publicKey)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  await serve()
  minion = await startMinion()
})

afterEach(async () => {
  await minion.close()
  await vanish()
  vi.useRealTimers()
  await master.close()
  await removeFolder(root)
})

test('returns of 500 jobs during a 10-minute outage arrive once, within a minute of its end, despite a minion restart', async () => {
  await minion.finish(0)
  await pass(10, () => minion.owed() === 0)
  expect(minion.owed()).toBe(0)

  await vanish()
  for (let job = 1; job < JOBS / 2; job++) await minion.finish(job)
  await pass(300)
  expect(minion.owed()).toBe(JOBS / 2 - 1)

  await minion.close()
  minion = await startMinion()
  for (let job = JOBS / 2; job < JOBS; job++) await minion.finish(job)
  await pass(300)
  expect(minion.owed()).toBe(JOBS - 1)
  expect(rows().filter((value) => value !== undefined)).toEqual([0])

  await master.restart()
  await serve()
  expect(await pass(60, () => minion.owed() === 0)).toBeLessThan(60)
  expect(rows()).toEqual(Array.from({ length: JOBS }, (_, job) => job))
  const announced = master.events.map(({ tag }) => tag).filter((tag) => tag.includes('/ret/'))
  expect(announced.sort()).toEqual(
    Array.from({ length: JOBS }, (_, job) => tags.jobReturn(jidOf(job), ID)).sort(),
  )
})

test('returns are sent again until a master accepts them that could not for an hour', async () => {
  const answer = master.answer.bind(master)
  let broken = true
  master.answer = async (frame) => (broken ? Buffer.from('no reply of any protocol') : answer(frame))
  for (let job = 0; job < 5; job++) await minion.finish(job)
  await pass(3600)
  expect(minion.owed()).toBe(5)
  broken = false
  await pass(120, () => minion.owed() === 0)
  expect(rows().slice(0, 5)).toEqual([0, 1, 2, 3, 4])
})
