/**
 * Requests of unauthenticated and unauthorized users, through every client of a salt-api beside its master and of one on
 * another host: they must have no effect.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAudit } from '../../core/auth/audit/index.ts'
import { RunnerClient } from '../../core/client/index.ts'
import { KeyStore } from '../../core/keys/index.ts'
import { API_CLIENTS, apiClients } from '../harness/api-clients.ts'
import { Cluster, Daemon, jobsWithin } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { freePort } from '../harness/ports.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const SECRET = 'a shared secret of the test'
const REMOTE = 'api-far'
const noClients = ['ssh', 'unknown', '__proto__']
/** What its ssh client gave to a shell (CVE-2017-5200, CVE-2019-17361, CVE-2020-16846, CVE-2021-3148, CVE-2021-3197). */
const forShells = [
  'ssh_priv',
  'ssh_options',
  'ssh_port',
  'ssh_user',
  'ssh_remote_port_forwards',
  'roster_file',
]

let folder: string
let mark: string
let cluster: Cluster
let far: Daemon
let urls: Readonly<Record<'near' | 'far', string>>
/** Of somebody who may ping and nothing else; of nobody any more. */
let tokens: Readonly<Record<'other' | 'expired', string>>

type Chunk = Readonly<Record<string, unknown>>

const admin = { eauth: 'sharedsecret', username: 'admin', sharedsecret: SECRET }

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, json: (await response.json()) as { return: unknown } }
}

async function signIn(url: string, credentials: object): Promise<string> {
  const { status, json } = await post(`${url}/login`, credentials)
  expect(status, JSON.stringify(json)).toBe(200)
  return (json.return as [{ token: string }])[0].token
}

beforeAll(async () => {
  folder = await temporaryFolder('salt-api-refusals-')
  mark = join(folder, 'mark')
  const [near, events, own] = [await freePort(), await freePort(), await freePort()]
  urls = { near: `http://127.0.0.1:${near}`, far: `http://127.0.0.1:${own}` }
  const api = { host: '127.0.0.1', disable_ssl: true, login_attempts: 10_000 }
  cluster = await Cluster.open({
    minions: ['m1'],
    minion: jobsWithin,
    master: {
      api: { ...api, port: near },
      api_logfile: '/api',
      sharedsecret: SECRET,
      netapi_enable_clients: API_CLIENTS,
      token_expire_user_override: true,
      external_auth: {
        sharedsecret: { admin: ['.*', '@runner', '@wheel'], pinger: [{ m1: ['test.ping'] }] },
      },
      api_clients: ['api-*'],
      event_stream_port: events,
    },
  })
  await cluster.master.logged('salt-api is ready')
  far = new Daemon('salt-api', join(folder, 'far'), {
    root_dir: join(folder, 'far'),
    api_logfile: '/api',
    netapi_enable_clients: API_CLIENTS,
    api: {
      ...api,
      port: own,
      client_id: REMOTE,
      master: '127.0.0.1',
      master_port: cluster.ports.request,
      event_stream_port: events,
    },
  })
  await new Daemon('salt-master', far.directory, far.options).writeConfig()
  far.start()
  await far.logged(`salt-key -a ${REMOTE}`)
  expect((await cluster.command('salt-key', '-y', '-a', REMOTE)).code).toBe(0)
  await far.logged('salt-api is ready')
  const expired = await signIn(urls.near, { ...admin, token_expire: 1 })
  tokens = { expired, other: await signIn(urls.far, { ...admin, username: 'pinger' }) }
  await until('the token to expire', async () => {
    const ping = { client: 'local', tgt: 'm1', fun: 'test.ping', token: expired }
    return (await post(`${urls.far}/run`, [ping])).status === 401
  })
})
afterAll(async () => {
  await far?.stop()
  await cluster?.close()
  await removeFolder(folder)
})

/** What would leave a mark if it were obeyed. */
function chunkFor(client: string): Chunk {
  if (client.startsWith('runner')) return { client, fun: 'salt.cmd', arg: ['cmd.run', `touch ${mark}`] }
  if (client.startsWith('wheel')) return { client, fun: 'key.delete', match: 'm1' }
  return { client, tgt: 'm1', fun: 'cmd.run', arg: [`touch ${mark}`], subset: 1, batch: '1' }
}

/** `local` takes no batch. */
function allowed(client: string): Chunk {
  const { batch, ...rest } = chunkFor(client)
  return client === 'local_batch' ? { ...rest, batch } : rest
}

const bad: [string, () => Chunk, number][] = [
  ['no token', () => ({}), 401],
  ["token: 'x'", () => ({ token: 'x' }), 401],
  ["eauth: 'x'", () => ({ eauth: 'x', username: 'admin', password: 'x' }), 401],
  ['an expired token', () => ({ token: tokens.expired }), 401],
  ["somebody else's token", () => ({ token: tokens.other }), 403],
]

async function expectNoEffect(): Promise<void> {
  expect(existsSync(mark)).toBe(false)
  const jobs = readJobCache(cluster, (cache) => [...cache.list()])
  expect(JSON.stringify(jobs)).not.toContain(mark)
  expect(await new KeyStore(cluster.config.pki_dir).list('accepted')).toContain('m1')
}

describe.each(['near', 'far'] as const)(
  'CVE-2017-5192, CVE-2018-15751, CVE-2020-25592, CVE-2021-25281: a salt-api that is %s',
  (where) => {
    test.each(bad)('refuses every client with %s', async (_, credentials, status) => {
      for (const client of API_CLIENTS) {
        const answer = await post(`${urls[where]}/run`, [{ ...allowed(client), ...credentials() }])
        expect([client, answer.status]).toEqual([client, status])
        const { token } = credentials()
        if (token === undefined) continue
        const byHeader = await post(urls[where], [allowed(client)], { 'x-auth-token': String(token) })
        expect([client, byHeader.status]).toEqual([client, status])
      }
      await expectNoEffect()
    })

    test.each(noClients)('has no client %s, whatever the credentials', async (client) => {
      const token = await signIn(urls[where], admin)
      for (const credentials of [...bad.map(([, each]) => each()), { token }]) {
        const shell = Object.fromEntries(
          forShells.map((name) => [name, `x;touch ${mark} -oProxyCommand=touch ${mark}`]),
        )
        const body = `[${JSON.stringify({ ...chunkFor('local'), ...shell, ...credentials }).replace('{"client":"local"', `{"client":${JSON.stringify(client)}`)}]`
        const answer = await post(`${urls[where]}/run`, JSON.parse(body))
        expect([client, answer.status]).toEqual([client, 400])
      }
      await expectNoEffect()
    })

    test('serves an authorized user through the same clients', async () => {
      const token = await signIn(urls[where], admin)
      const ping = { tgt: 'm1', fun: 'test.ping', token }
      const chunks = [
        ...apiClients.publish.map((client) => ({ client, ...ping })),
        ...apiClients.runner.map((client) => ({ client, fun: 'test.arg', arg: ['x'], token })),
        ...apiClients.wheel.map((client) => ({ client, fun: 'key.list', match: 'accepted', token })),
      ]
      const { status, json } = await post(`${urls[where]}/run`, chunks)
      expect(status, JSON.stringify(json)).toBe(200)
      const [returned, started, batch, subset, run] = json.return as unknown[]
      expect([returned, subset, batch]).toEqual([{ m1: true }, { m1: true }, { m1: true }])
      expect(started).toMatchObject({ jid: expect.stringMatching(/^\d{20}/), minions: ['m1'] })
      expect(run).toEqual({ args: ['x'], kwargs: {} })
    })

    test('CVE-2021-3144: a token is refused after it was revoked by /logout', async () => {
      const token = await signIn(urls[where], admin)
      expect((await post(`${urls[where]}/logout`, {}, { 'x-auth-token': token })).status).toBe(200)
      const answer = await post(urls[where], [allowed('local')], { 'x-auth-token': token })
      expect(answer.status).toBe(401)
      await expectNoEffect()
    })
  },
)

test.each(['near', 'far'] as const)(
  'the audit log of the master has the refusals of a salt-api that is %s, too',
  async (where) => {
    const api = where === 'far' ? { api: REMOTE } : {}
    const via = { ...api, claimed_address: '127.0.0.1' }
    const reason = 'No authentication credentials given'
    const isOurs = (line: Chunk) =>
      line.by === 'salt-api' && JSON.stringify(line.via) === JSON.stringify(via) && line.reason === reason
    await until('the lines', async () => {
      const found = (await listAudit(cluster.config.audit_log, { verdict: 'refused', limit: 10_000 })).filter(
        isOurs,
      )
      return ['publish', 'runner', 'wheel'].every((wanted) => found.some(({ act }) => act === wanted))
    })
    const far = await listAudit(cluster.config.audit_log, { address: '127.0.0.1', limit: 10_000 })
    const passed = far.filter(
      ({ by, via: line }) => by !== 'salt-api' && JSON.stringify(line) === JSON.stringify(via),
    )
    const acts = new Set(passed.map(({ act, verdict }) => `${verdict} ${act}`))
    for (const act of ['publish', 'runner', 'wheel'])
      expect([...acts]).toEqual(expect.arrayContaining([`allowed ${act}`, `refused ${act}`]))
    expect([...acts]).toEqual(expect.arrayContaining(['allowed login', 'allowed logout']))
    const written = await readFile(cluster.config.audit_log, 'utf8')
    for (const secret of [SECRET, tokens.other, tokens.expired]) expect(written).not.toContain(secret)
  },
)

test('each refusal is in the audit log, which is whole', async () => {
  const runners = new RunnerClient({ config: cluster.config, log: quietLog, user: 'root' })
  const listed = await runners.run('audit.list', [], { verdict: 'refused', user: 'pinger' })
  const lines = listed.return as Chunk[]
  expect(lines.map(({ act }) => act)).toEqual(expect.arrayContaining(['publish', 'runner', 'wheel']))
  const verified = await runners.run('audit.verify', [], {})
  expect(verified).toMatchObject({ retcode: 0, return: { valid: true } })
  await runners.close()
})
