/** The lines of the logs at debug level, in the words of Salt, and the secrets that they must not contain. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadMinionConfig } from '../../core/config/index.ts'
import { masterEventSockets } from '../../core/events/index.ts'
import { readRootKey } from '../../core/keys/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/ports.ts'
import { until } from '../harness/until.ts'

const PASSWORD = 'c4n4ry-password'
/** What `p.secret` names, what a word names, and what is in a text. */
const [DECLARED, NAMED, WRITTEN] = ['s3cret-declared', 's3cret-named', 's3cret-written']

const MODULE = `import { fn, p } from 'salt-ts'
export const login = fn({ user: p.string(), word: p.secret(p.string()) }, ({ user, word }, { log }) => {
  log.debug('login of {user}', { user, word })
  return user
})
`

let cluster: Cluster
let port: number
let tokens: string
const told = { log_level_logfile: 'all', log_fmt_logfile: '%(name)s|%(process)d|%(levelname)s|%(message)s' }

beforeAll(async () => {
  port = await freePort()
  tokens = await temporaryFolder('salt-ts-tokens-')
  cluster = await Cluster.open({
    master: {
      ...told,
      auth_dirs: [fileURLToPath(new URL('../fixtures/auth', import.meta.url))],
      token_file: join(tokens, 'token'),
      external_auth: {
        listed: { '^users': { fred: { password: PASSWORD, groups: [] } }, fred: ['.*', '@runner'] },
      },
      api: { host: '127.0.0.1', port, disable_ssl: true },
      api_logfile: '/api',
      netapi_enable_clients: ['local', 'runner'],
    },
  })
  const modules = join(cluster.root, 'modules')
  await mkdir(modules)
  await writeFile(join(modules, 'mine.js'), MODULE)
  await mkdir(join(cluster.root, 'web1', 'minion.d'), { recursive: true, mode: 0o700 })
  await writeFile(join(cluster.root, 'web1', 'minion.d', 'a.conf'), 'grains: {a: 1}\n', { mode: 0o600 })
  await cluster.addMinion('web1', { ...told, module_dirs: [modules] })
  await cluster.master.logged('salt-api is ready')
})
afterAll(async () => {
  await cluster.close()
  await removeFolder(tokens)
})

const logOf = (daemon: string, file = 'log') => readFile(join(cluster.root, daemon, file), 'utf8')
/** Resolves with what stands in a log once it has all of these lines. */
const logged = (daemon: string, lines: readonly (string | RegExp)[], file?: string): Promise<string> => {
  let missing: readonly unknown[] = lines
  return until(
    () => `these lines in the log of ${daemon}: ${missing.join('\n')}`,
    async () => {
      const text = await logOf(daemon, file)
      missing = lines.filter((line) => !(typeof line === 'string' ? text.includes(line) : line.test(text)))
      return missing.length === 0 ? text : undefined
    },
  )
}

const withoutPids = (text: string) => `\n${text}`.replace(/^(salt[\w.]*)\|\d+\|/gm, '$1|')

test('salt logs the files it read, the minions it waits for, and those that have returned', async () => {
  const { stderr, stdout, code } = await cluster.salt('web1', 'test.ping', '--out', 'txt', '-l', 'debug')
  expect([code, stdout]).toEqual([0, 'web1: True\n'])
  const { conf_file, ret_port } = cluster.config
  const { pubPath, pullPath } = masterEventSockets(cluster.config)
  const [jid] = /\d{20}/.exec(stderr) ?? []
  for (const line of [
    `Reading configuration from ${conf_file}`,
    `MasterEvent PUB socket URI: ${pubPath}`,
    `MasterEvent PULL socket URI: ${pullPath}`,
    `Initializing new AsyncZeroMQReqChannel for tcp://127.0.0.1:${ret_port}`,
    `get_iter_returns for jid ${jid} sent to ["web1"] will timeout at `,
    `jid ${jid} return from web1`,
    `jid ${jid} found all minions ["web1"]`,
    'Closing AsyncReqChannel instance',
  ])
    expect(stderr).toContain(`[DEBUG   ] ${line}`)
  expect(stderr).not.toContain('[TRACE')
  const { stderr: traced } = await cluster.salt('web1', 'test.ping', '-l', 'trace')
  expect(traced).toMatch(/\[TRACE {3}\] ReqChannel send clear load=\{"cmd":"publish","fun":"test\.ping",/)
})

test('salt-run, salt-key and salt-call log this at debug, too', async () => {
  const reading = `[DEBUG   ] Reading configuration from ${cluster.config.conf_file}`
  const run = await cluster.command('salt-run', 'manage.up', '-l', 'debug')
  expect(run.stderr).toContain(reading)
  expect(run.stderr).toContain('[DEBUG   ] LazyLoaded manage.up')
  expect(run.stderr).toMatch(/\[DEBUG {3}\] Sending event: tag = salt\/run\/\d{20}\/new; data = \{"fun"/)
  expect(run.stderr).toMatch(/\[DEBUG {3}\] jid \d{20} found all minions \["web1"\]/)
  const keys = await cluster.command('salt-key', '-L', '--log-level', 'debug')
  expect(keys.stderr).toContain(reading)
  expect(keys.stderr).toMatch(/\[DEBUG {3}\] LazyLoaded \w+\.render/)
  const call = await cluster.command('salt-call', '-c', join(cluster.root, 'web1'), 'test.ping', '-l', 'all')
  const { config } = loadMinionConfig({ configDir: join(cluster.root, 'web1') })
  const included = join(cluster.root, 'web1', 'minion.d', 'a.conf')
  for (const line of [
    `[DEBUG   ] Reading configuration from ${config.conf_file}`,
    `[DEBUG   ] Including configuration from '${included}'`,
    `[DEBUG   ] Master URI: tcp://127.0.0.1:${cluster.ports.request}`,
    `[DEBUG   ] Initializing new AsyncAuth for ["${config.pki_dir}","web1",`,
    '[DEBUG   ] LazyLoaded test.ping',
    '[TRACE   ] ReqChannel send crypt load={"cmd":"_return"',
  ])
    expect(call.stderr).toContain(line)
})

test('salt-master, salt-minion and salt-api follow a job under the names of their components', async () => {
  const { stdout } = await cluster.salt('web1', 'cmd.run', 'echo hi', '--show-jid', '--out', 'txt')
  const [jid] = /\d{20}/.exec(stdout) ?? []
  const master = await logged('master', [
    `INFO|Got return from web1 for job ${jid}`,
    `DEBUG|Sending event: tag = salt/job/${jid}/ret/web1; data = {`,
  ])
  for (const [name, line] of [
    ['config', `DEBUG|Reading configuration from ${cluster.config.conf_file}`],
    ['utils.event', 'DEBUG|MasterEvent PUB socket URI: '],
    ['channel.server', 'INFO|Authentication request from web1'],
    ['channel.server', 'INFO|Authentication accepted from web1'],
    ['master', 'TRACE|Clear payload received with command publish'],
    ['master', 'TRACE|AES payload received with command _return'],
    ['master', `INFO|User ${cluster.config.user} Published command cmd.run with jid ${jid}`],
    ['master', 'DEBUG|Published command details {"fun":"cmd.run","arg":["echo hi"]'],
    ['channel.server', `DEBUG|Sent payload to publish daemon. jid=${jid}`],
    ['utils.event', `DEBUG|Sending event: tag = salt/job/${jid}/new; data = {"jid":"${jid}"`],
  ])
    expect(withoutPids(master)).toContain(`\nsalt.${name}|${line}`)

  const minion = await logged('web1', [
    `DEBUG|minion return: {`,
    `INFO|Returning information for job: ${jid}`,
  ])
  for (const [name, line] of [
    ['minion', `DEBUG|Master URI: tcp://127.0.0.1:${cluster.ports.request}`],
    ['crypt', 'DEBUG|Initializing new AsyncAuth for '],
    ['transport.zeromq', 'DEBUG|Connecting the Minion to the Master publish port, using the URI: tcp://'],
    ['minion', `INFO|User ${cluster.config.user} Executing command cmd.run with jid ${jid}`],
    ['minion', 'DEBUG|Command details {"fun":"cmd.run","arg":["echo hi"]'],
    ['loader.lazy', 'DEBUG|LazyLoaded cmd.run'],
    ['loaded.int.module.cmd', "INFO|Executing command 'echo' in directory"],
  ])
    expect(withoutPids(minion)).toContain(`\nsalt.${name}|${line}`)
  const [, own] = /^salt\.minion\|(\d+)\|/m.exec(minion) ?? []
  const [, pid] = new RegExp(`Starting a new job ${jid} with PID (\\d+)`).exec(minion) ?? []
  expect(minion).toMatch(new RegExp(`^salt\\.loaded\\.int\\.module\\.cmd\\|${pid}\\|`, 'm'))
  expect(pid).not.toBe(own)

  const { token } = await signIn()
  await post('/', { client: 'local', tgt: 'web1', fun: 'test.ping' }, { 'X-Auth-Token': token })
  await logged('master', [/^salt\.client\|\d+\|DEBUG\|jid \d{20} return from web1$/m], 'api')
})

test('no password, token, key or secret argument is in any of these logs', async () => {
  const fred = ['--eauth', 'listed', '--username', 'fred', '--password', PASSWORD, '-l', 'all']
  const shown: string[] = []
  const words = [`password=${NAMED}`, `curl --api-key ${WRITTEN}`]
  for (const [fun, ...args] of [
    ['mine.login', 'fred', DECLARED],
    ['mine.login', 'fred', `word=${DECLARED}`],
    ['test.arg', ...words],
  ]) {
    const { stderr, code } = await cluster.salt(...fred, 'web1', fun ?? '', ...args)
    expect(code).toBe(0)
    shown.push(stderr)
  }
  shown.push((await cluster.salt(...fred, '--make-token', 'web1', 'test.ping')).stderr)
  shown.push((await cluster.command('salt-run', ...fred, 'test.arg', ...words)).stderr)
  shown.push(
    (
      await cluster.spawned(
        'salt-call',
        '-c',
        join(cluster.root, 'web1'),
        'mine.login',
        'a',
        DECLARED,
        '-l',
        'all',
      )
    ).stderr,
  )
  const { token } = await signIn()
  const low = { client: 'local', tgt: 'web1', fun: 'mine.login', arg: ['fred', DECLARED] }
  await post('/', low, { 'X-Auth-Token': token })
  await post('/run', { ...low, username: 'fred', password: PASSWORD, eauth: 'listed' })
  await logged('web1', [/loaded\.ext\.module\.mine\|\d+\|DEBUG\|login of fred word=\*+/])
  const kept = await readFile(cluster.config.token_file, 'utf8')
  const key = await readRootKey(cluster.config, cluster.config.user)
  const all = [...shown, await logOf('master'), await logOf('master', 'api'), await logOf('web1')].join('\n')
  expect(all).toContain('Command details {"fun":"mine.login","arg":["fred","**********"]')
  expect(key?.length).toBeGreaterThan(20)
  for (const secret of [PASSWORD, DECLARED, NAMED, WRITTEN, token, kept.trim(), String(key), 'PRIVATE KEY'])
    expect(all.split('\n').filter((line) => line.includes(secret))).toEqual([])
})

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json()
}

async function signIn(): Promise<{ readonly token: string }> {
  const answer = await post('/login', { username: 'fred', password: PASSWORD, eauth: 'listed' })
  return (answer as { return: [{ token: string }] }).return[0]
}
