/** Processes of a master that hang or die: others do their work, and they are replaced. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { isAlive, type ProcessInfo, signalAll } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

let folder: string
let cluster: Cluster
beforeAll(async () => {
  folder = await temporaryFolder()
  cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    master: {
      worker_threads: 2,
      event_return: ['rawfile_json'],
      event_return_whitelist: ['salt/job/*/ret/*'],
      'rawfile_json.filename': join(folder, 'events'),
    },
  })
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const children = (name: string): ProcessInfo[] =>
  cluster.master.processes().filter(({ command }) => command.startsWith(`salt-master ${name}`))

/** Wait until the children of that name are others than these, and as many. */
const replaced = (name: string, old: readonly ProcessInfo[]) =>
  until(`${name} to be replaced`, () => {
    const present = children(name)
    return present.length === old.length && present.every(({ pid }) => !old.some((each) => each.pid === pid))
  })

const ping = async () => {
  const { stdout } = await cluster.spawned('salt', '*', 'test.ping', '--out', 'json', '--static')
  return JSON.parse(stdout || '{}')
}
const all = { web1: true, web2: true }

test('a worker that hangs is replaced, and its requests are answered by another one', async () => {
  const client = await cluster.client()
  for (const worker of children('MWorker-')) {
    signalAll([worker.pid], 'SIGSTOP')
    // Enough at once for some to be given to the worker that hangs.
    const answers = Array.from({ length: 20 }, () => returnsOf(client, { tgt: '*', fun: 'test.ping' }))
    await until('the worker that hangs to be killed', () => !isAlive(worker.pid))
    for (const answer of answers) expect(await answer).toEqual(all)
    await until('a new worker', () => children('MWorker-').length === 2)
  }
  await client.close()
})

test('requests wait for new workers when all workers are killed at once', async () => {
  const workers = children('MWorker-')
  signalAll(
    workers.map(({ pid }) => pid),
    'SIGKILL',
  )
  expect(await ping()).toEqual(all)
  await replaced('MWorker-', workers)
})

/** Do something to the publisher, and wait for the next one and for the minions to have found it. */
async function replacePublisher(how: NodeJS.Signals): Promise<void> {
  const [publisher] = children('publisher')
  const connected = [...cluster.minions.values()].map((minion) => {
    minion.output = ''
    return minion.logged(`publish port 127.0.0.1:${cluster.ports.publish} is up`)
  })
  signalAll([publisher!.pid], how)
  await replaced('publisher', [publisher!])
  await Promise.all(connected)
}

test('a killed publisher is restarted, minions reconnect, and no job is taken for a replay', async () => {
  for (let round = 0; round < 3; round++) {
    await replacePublisher('SIGKILL')
    expect(await ping()).toEqual(all)
  }
  for (const minion of cluster.minions.values()) expect(minion.output).not.toContain('seen before')
})

test('a publisher that hangs is replaced too', async () => {
  await replacePublisher('SIGSTOP')
  expect(await ping()).toEqual(all)
})

test('a command that waits gets its returns although the publisher and the workers die meanwhile', async () => {
  const minions = [...cluster.minions.values()]
  for (const minion of minions) minion.output = ''
  // By the events: asking after this time-out would come too late for the test.
  const command = cluster.spawned('salt', '-t', '600', '*', 'cmd.run', 'sleep 4; echo done', '--out', 'txt')
  await Promise.all(minions.map((minion) => minion.logged('Starting a new job')))
  signalAll(
    cluster.master
      .processes()
      .filter(({ pid }) => pid !== cluster.master.pid)
      .map(({ pid }) => pid),
    'SIGKILL',
  )
  const { stdout, code } = await command
  expect(stdout.trim().split('\n').sort()).toEqual(['web1: done', 'web2: done'])
  expect(code).toBe(0)
})

test.each(['returner', 'publisher'])(
  'event_return has the event of each return although the %s is killed',
  async (name) => {
    const client = await cluster.client()
    const jids: string[] = []
    for (let round = 0; round < 3; round++) {
      const killed = children(name)
      for (let job = 0; job < 6; job++) {
        const run = await client.cmdIter({ tgt: '*', fun: 'test.ping' })
        jids.push(run.jid)
        if (job === 1) signalAll([killed[0]!.pid], 'SIGKILL')
        for await (const _ of run);
      }
      await replaced(name, killed)
    }
    const missing = async () => {
      const written = await readFile(join(folder, 'events'), 'utf8')
      return jids.flatMap((jid) =>
        ['web1', 'web2'].map((id) => `salt/job/${jid}/ret/${id}`).filter((tag) => !written.includes(tag)),
      )
    }
    await until('the event of each return', async () => (await missing()).length === 0)
    await client.close()
  },
)
