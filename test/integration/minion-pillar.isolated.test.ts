/** A minion in this process, with job processes of its own, and a master that has a pillar, as those of Python Salt may. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Disposer } from '../../core/base/disposer.ts'
import { PublishChannel } from '../../core/channel/publish-channel.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { openMinion } from '../../core/minion/minion.ts'
import { getTransport } from '../../core/transport/index.ts'
import { serveRequests } from '../../core/transport/serve-requests.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { quietLog } from '../harness/log.ts'
import { until } from '../harness/until.ts'

/** What the master has for the minion. */
let pillar: Record<string, unknown>
vi.mock('../../core/minion/pillar.ts', () => ({ fetchPillar: async () => pillar }))

const memory = getTransport('memory')

let disposer: Disposer
let master: InProcessMaster
let channel: PublishChannel
let jobs: number

beforeEach(async () => {
  process.execArgv = [] // job processes are those of the build, and not started as those of the test runner are
  disposer = new Disposer()
  jobs = 0
  pillar = { role: 'web' }
  const root = await temporaryFolder('salt-pillar-')
  disposer.defer(() => removeFolder(root))
  master = disposer.own(await InProcessMaster.open({ options: { auto_accept: true } }))
  const requests = disposer.own(await serveRequests(memory, { host: 'pillars', port: 4506 }))
  requests.serve((frame) => master.answer(frame))
  const server = disposer.own(
    await memory.servePublish({ host: 'pillars', port: master.config.publish_port }),
  )
  const { aesKeys, context } = master
  const signing = 'PKCS1v15-SHA1'
  channel = new PublishChannel({ server, aesKeys, masterKey: context.masterKey, signing, filtering: false })
  const overrides = {
    root_dir: root,
    cachedir: '/cache',
    pki_dir: '/pki',
    sock_dir: '/run',
    id: 'web1',
    master: 'pillars',
  }
  const { config } = loadMinionConfig({ configDir: root, overrides })
  const minion = disposer.own(await openMinion(config, quietLog, () => memory))
  void minion.run()
  await until('the minion is ready', () => master.events.some(({ tag }) => tag === 'salt/minion/web1/start'))
})
afterEach(() => disposer.close())

async function run(fun: string, ...arg: unknown[]): Promise<unknown> {
  const jid = `202611211200${String(++jobs).padStart(8, '0')}`
  await channel.publish({ fun, arg, tgt: '*', tgt_type: 'glob', jid, ret: '' })
  const tag = `salt/job/${jid}/ret/web1`
  return (await until(tag, () => master.events.find((event) => event.tag === tag))).data.return
}

test('jobs see the pillar that came with the start, also in a process that was ready before it', async () => {
  expect(await run('config.get', 'role')).toBe('web')
})

test('saltutil.refresh_pillar fetches the pillar, and the next job sees it', async () => {
  pillar = { role: 'db' }
  expect(await run('config.get', 'role')).toBe('web')
  expect(await run('saltutil.refresh_pillar')).toBe(true)
  expect(await run('config.get', 'role')).toBe('db')
})
