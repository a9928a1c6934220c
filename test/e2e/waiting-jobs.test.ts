/** Jobs that wait for their turn when the minion ends run after its restart, and none runs twice. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalClient } from '../../core/client/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { MOUNTS, needs } from '../harness/needs.ts'
import { signalAll } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { awaitedReturn } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let client: LocalClient
let minion: Daemon

beforeAll(async () => {
  cluster = await Cluster.open({ minions: ['web1'], minion: { process_count_max: 2 } })
  client = await cluster.client()
  minion = cluster.minions.get('web1')!
}, 120_000)
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

/** Six jobs that write down that they ran; they go on when there is a file. Resolves when two run and four wait. */
async function begin(name: string) {
  const file = (what: string) => join(cluster.root, `${name}-${what}`)
  const script = `echo ran >> ${file('$N')}; until [ -e ${file('go')} ]; do sleep 0.1; done; echo $N`
  const jobs: { readonly number: number; readonly jid: string }[] = []
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const { jid } = await client.runJob({
      tgt: 'web1',
      fun: 'cmd.run',
      arg: [`export N=${number}; ${script}`],
    })
    jobs.push({ number, jid })
  }
  const began = () => jobs.filter(({ number }) => existsSync(file(String(number))))
  await until('two jobs to run', () => began().length === 2)
  await until('the others to wait', async () => {
    const running = (await returnsOf(client, { tgt: 'web1', fun: 'saltutil.running', arg: [] })).web1
    return Array.isArray(running) && running.length === 6
  })
  return { jobs, began: began(), go: () => writeFile(file('go'), ''), file }
}

const returned = (jid: string) => awaitedReturn(cluster, minion, jid)

async function restart(): Promise<void> {
  minion.output = ''
  minion.start()
  await minion.logged('is ready to receive jobs')
}

test.each([
  ['SIGTERM', () => minion.stop('SIGTERM')],
  [
    'kill -9',
    async () => {
      signalAll([minion.pid], 'SIGKILL')
      await minion.exited()
    },
  ],
])('after %s of the minion queued jobs run, and running ones continue', async (name, end) => {
  const { jobs, go, file } = await begin(name.replace(' ', ''))
  await end()
  await restart()
  await go()
  for (const { number, jid } of jobs) {
    expect(await returned(jid)).toMatchObject({ return: String(number), success: true })
    expect(await readFile(file(String(number)), 'utf8')).toBe('ran\n')
  }
})

test('when all processes of the minion are killed, queued jobs run, and running ones are returned as failed', async () => {
  const { jobs, began, go, file } = await begin('all')
  await minion.killAll()
  await restart()
  await go()
  for (const { number, jid } of jobs) {
    const lost = began.some((one) => one.jid === jid)
    const expected = lost ? expect.stringMatching(/^ERROR: The minion ended while job/) : String(number)
    expect(await returned(jid)).toMatchObject({ return: expected, success: !lost })
    expect(await readFile(file(String(number)), 'utf8')).toBe('ran\n')
  }
}, 120_000)

/** As in a container: process ids begin at 1 again. */
const namespace = ['unshare', '-p', '-f', '--mount-proc', '--kill-child']

test(
  'if process ids repeat, no process of the restarted minion is taken for an earlier job',
  needs(MOUNTS),
  async () => {
    await minion.stop()
    const live = async () => {
      minion.output = ''
      minion.start('info', namespace)
      await minion.logged('is ready to receive jobs')
    }
    await live()
    for (const life of [1, 2, 3]) {
      const file = join(cluster.root, `life-${life}`)
      const { jid } = await client.runJob({
        tgt: 'web1',
        fun: 'cmd.run',
        arg: [`touch ${file}; sleep 600`],
      })
      await until('the job to run', () => existsSync(file))
      await minion.stop('SIGKILL')
      await live()
      expect(await returned(jid)).toMatchObject({
        return: expect.stringMatching(/^ERROR: The minion ended while job/),
      })
    }
    await minion.stop('SIGKILL') // unshare leaves SIGTERM alone
  },
)
