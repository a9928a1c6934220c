/** A client of the API that is not on the master's host: its link goes through proxies that see what is on the wire. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '../../core/auth/audit/index.ts'
import { connectStream } from '../../core/channel/event-stream-client.ts'
import { createRequestChannel } from '../../core/channel/request-channel.ts'
import { signIn } from '../../core/channel/sign-in-client.ts'
import type { MasterLink } from '../../core/client/local/master-link.ts'
import { linkRemote } from '../../core/client/remote/link-remote.ts'
import type { RemoteMaster } from '../../core/client/remote/remote-master.ts'
import { PrivateKey, SymmetricKey } from '../../core/crypto/index.ts'
import { type Event, tags } from '../../core/events/index.ts'
import { fakeLog } from '../../core/testing/recording-log.ts'
import { getTransport } from '../../core/transport/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/ports.ts'
import { openProxy, type TcpProxy } from '../harness/proxy.ts'
import { until } from '../harness/until.ts'

const CLIENT = 'api-one'
const CANARY = 'canary-5ecret-passw0rd'
const algorithms = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const

let cluster: Cluster
let streamPort: number
let proxies: { requests: TcpProxy; events: TcpProxy }
let folder: string
let link: MasterLink | undefined
const { log, lines } = fakeLog()
const wire: Buffer[] = []

beforeAll(async () => {
  streamPort = await freePort()
  cluster = await Cluster.open({
    minions: ['web'],
    master: { api_clients: ['api-*'], event_stream_port: streamPort, timeout: 5 },
  })
  const through = (port: number) =>
    openProxy({ host: '127.0.0.1', port }, 0, undefined, (bytes) => void wire.push(Buffer.from(bytes)))
  proxies = { requests: await through(cluster.ports.request), events: await through(streamPort) }
  folder = await temporaryFolder('salt-api-host-')
})
afterAll(async () => {
  await link?.close()
  await Promise.all([proxies?.requests.close(), proxies?.events.close()])
  await cluster?.close()
  await removeFolder(folder)
})

const master = (changes: Partial<RemoteMaster> = {}): RemoteMaster => ({
  host: '127.0.0.1',
  port: proxies.requests.port,
  eventPort: proxies.events.port,
  ipv6: false,
  id: CLIENT,
  pkiDir: join(folder, 'pki'),
  keySize: 2048,
  permissive: false,
  hash: 'sha256',
  finger: '',
  ...changes,
})
async function ask(load: Record<string, unknown>): Promise<unknown> {
  if (!link) throw new Error('There is no link.')
  return link.ask(load, 10_000)
}

test('a client of the API waits until an administrator accepts its key, even if the master accepts minions automatically', async () => {
  const linking = linkRemote(master(), { log })
  await until('the key to be pending', () =>
    lines.find(({ message }) => message.includes(`accept it there with: salt-key -a ${CLIENT}`)),
  )
  const accepted = await cluster.command('salt-key', '-y', '-a', CLIENT)
  expect(accepted.stdout).toContain(CLIENT)
  link = await linking
  expect(await ask({ cmd: 'ping', number: 7 })).toMatchObject({ number: 7 })
})

test('a client of the API is no minion: no target matches it, and it is not counted', async () => {
  const pinged = await cluster.salt('*', 'test.ping', '--out', 'json', '--static')
  expect(JSON.parse(pinged.stdout)).toEqual({ web: true })
  const named = await cluster.salt('-L', CLIENT, 'test.ping')
  expect(`${named.stdout}${named.stderr}`).toContain('No minions matched')
  const up = await cluster.command('salt-run', 'manage.status', '--out', 'json')
  expect(JSON.parse(up.stdout)).toEqual({ up: ['web'], down: [] })
})

test('a client of the API receives the events of the master whose tags it subscribed to', async () => {
  const heard: Event[] = []
  const listening = link?.events.subscribe(tags.jobs)
  await ask({ cmd: 'ping' }) // from then on it is known there what is wanted
  const client = await cluster.client()
  const { jid } = await client.runJob({ tgt: 'web', fun: 'test.echo', arg: ['heard'] })
  await client.close()
  for await (const event of listening ?? []) {
    heard.push(event)
    if (event.tag === tags.jobReturn(jid, 'web')) break
  }
  expect(heard.at(-1)?.data).toMatchObject({ return: 'heard', id: 'web', jid })
})

test('credentials and tokens are on no wire in the clear', async () => {
  const load = { cmd: 'mk_token', eauth: 'pam', username: 'alice', password: CANARY }
  await ask(load)
  await link?.events.fire('salt/netapi/hook/test', { secret: CANARY })
  const all = Buffer.concat(wire)
  expect(all.length).toBeGreaterThan(1_000)
  expect(all.includes(CANARY)).toBe(false)
  expect(all.includes('salt/job/')).toBe(false)
})

test('a client of the API may fire hooks, and no other events', async () => {
  const bus = await cluster.events()
  const hooks = bus.subscribe('salt/')
  await link?.events.fire('salt/netapi/hook/build', { number: 1 })
  await expect(link?.events.fire('salt/job/20261122000000000001/ret/web', { id: 'web' })).rejects.toThrow(
    'only fires events of hooks of the API',
  )
  for await (const { tag, data } of hooks) {
    expect(tag).toBe('salt/netapi/hook/build')
    expect(data).toMatchObject({ number: 1 })
    break
  }
  await bus.close()
})

test('a client of the API cannot act as a local user, even with the right key of that user', async () => {
  const { localCredentials } = await import('../../core/client/local/credentials.ts')
  const right = await localCredentials(cluster.config)
  const publish = {
    cmd: 'publish',
    tgt: 'web',
    tgt_type: 'glob',
    fun: 'test.ping',
    arg: [],
    jid: '',
    ret: '',
  }
  for (const load of [
    { ...publish, ...right, kwargs: {} },
    { cmd: 'runner', fun: 'manage.up', kwarg: {}, ...right },
    { cmd: 'wheel', fun: 'key.list_all', ...right },
  ])
    expect(await ask(load)).toMatchObject({ error: { name: expect.stringContaining('Authentication') } })
})

test('an id that is no client of the API can neither send its requests nor read events', async () => {
  const minion = await signInAs('stranger', await PrivateKey.generate(2048))
  for (const cmd of [
    '_client_request',
    '_client_event',
    '_client_returns',
    '_client_silence',
    '_client_refusal',
  ])
    expect(
      await minion.request({ cmd, load: { cmd: 'ping' }, tag: 'salt/netapi/x', data: {}, ids: [] }),
    ).toEqual({})
  await expect(
    connectStream({ ...streamOf('stranger', minion.session), onEvent: () => {}, onEnd: () => {} }),
  ).rejects.toThrow('refused this host')
})

test('a client of the API receives nothing that minions receive', async () => {
  const pem = await readFile(join(folder, 'pki', 'api.pem'), 'utf8')
  const client = await signInAs(CLIENT, PrivateKey.parse(pem))
  for (const cmd of ['_return', '_minion_event', '_master_opts', '_file_list', '_catalogue'])
    expect(
      await client.request({ cmd, id: CLIENT, jid: '20261122000000000001', fun: 'x', return: 1 }),
    ).toEqual({})
  const minion = await signInAs('another', await PrivateKey.generate(2048))
  expect(client.aes.digest()).not.toBe(minion.aes.digest())
})

test('refusals that a client of the API reports are logged as its own, and it can log nothing else', async () => {
  const long = 'x'.repeat(100_000)
  const refusal = {
    act: 'wheel',
    user: long,
    request: long,
    fun: long,
    reason: long,
    verdict: 'allowed',
    via: {},
  }
  const pem = await readFile(join(folder, 'pki', 'api.pem'), 'utf8')
  const client = await signInAs(CLIENT, PrivateKey.parse(pem))
  const tell = (load: object) => client.request({ cmd: '_client_refusal', ...load })
  expect(await tell({ ...refusal, leftOut: 7 })).toEqual({ noted: true })
  for (const none of [{ act: 'key' }, { act: 'log' }, { act: ['wheel'] }, { via: 'x' }])
    expect(await tell({ ...refusal, ...none })).toEqual({ noted: false })
  const lines = await listAudit(cluster.config.audit_log, { act: 'wheel' })
  expect(lines.filter(({ by }) => by === 'salt-api')).toMatchObject([
    { verdict: 'refused', claimed: true, by: 'salt-api', via: { api: CLIENT }, left_out_before: 7 },
  ])
  expect(JSON.stringify(lines.at(-1)).length).toBeLessThan(3_000)
})

test('a wait continues when the master is restarted, and missed returns are looked up there', async () => {
  const records = link?.records
  const client = await cluster.client()
  const run = await client.cmdIter({ tgt: 'web', fun: 'test.echo', arg: ['before'] })
  for await (const _ of run);
  await client.close()
  let gaps = 0
  const back = new Promise<void>((resolve) => {
    link?.events.subscribe('salt/none/', undefined, {
      onGap() {
        gaps++
        resolve()
      },
    })
  })
  await cluster.master.stop()
  await cluster.startMaster()
  await back
  expect(gaps).toBe(1)
  const results = []
  for await (const result of records?.returns(run.jid, ['web', 'nobody']) ?? []) results.push(result)
  expect(results).toMatchObject([{ id: 'web', state: 'returned', return: 'before' }])
  const silence = await records?.silence(new Set(['web']), run.jid)
  expect(silence).toEqual({ denied: [], lost: [], reconnecting: [], waiting: [] })
  expect(await ask({ cmd: 'ping', still: 'here' })).toMatchObject({ still: 'here' })
})

test('a client of the API loses all access when its key is deleted: the stream ends, requests are refused', async () => {
  await cluster.command('salt-key', '-y', '-d', CLIENT)
  await cluster.master.logged(`Disconnected ${CLIENT} from the event stream: its key is no longer accepted`)
  await expect(ask({ cmd: 'ping' })).rejects.toThrow('it is not accepted yet')
})

const streamOf = (id: string, session: SymmetricKey) => ({ host: '127.0.0.1', port: streamPort, id, session })

/** As a minion does. */
async function signInAs(id: string, key: PrivateKey) {
  const client = getTransport('zeromq').connectRequests({ host: '127.0.0.1', port: cluster.ports.request })
  const outcome = await signIn({
    client,
    timeoutMs: 10_000,
    id,
    key,
    algorithms,
    minimumVersion: 3,
    known: { read: async () => undefined, write: async () => {} },
    token: SymmetricKey.generate().text,
  })
  if (outcome.state !== 'accepted') throw new Error(`${id} is ${outcome.state}`)
  const { credentials } = outcome
  const channel = createRequestChannel({
    client,
    id,
    key,
    algorithms,
    now: Date.now,
    credentials: async () => credentials,
    renew: async () => credentials,
  })
  return {
    session: credentials.request,
    aes: credentials.aes,
    request: (load: Record<string, unknown>) => channel.request(load, 10_000),
  }
}
