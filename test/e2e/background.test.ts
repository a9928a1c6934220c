/** `-d`: a daemon in the background, and the messages of its start. */
import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster, Daemon, run } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { isAlive } from '../harness/processes.ts'
import type { Finished } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let server: Server
/** Held by another program. */
let taken: number
beforeAll(async () => {
  cluster = await Cluster.open()
  server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  taken = (server.address() as { port: number }).port
})
afterAll(async () => {
  server.close()
  await cluster.close()
})

const pidOf = async ({ directory }: Daemon) => Number(await readFile(join(directory, 'pid'), 'utf8'))

/** A master of its own, that does not run. */
async function aMaster(name: string, options: Record<string, unknown> = {}): Promise<Daemon> {
  const directory = join(cluster.root, name)
  const ports = { publish_port: await freePort(), ret_port: await freePort() }
  const own = { ...cluster.master.options, root_dir: directory, ...ports, ...options }
  const daemon = new Daemon('salt-master', directory, own)
  await daemon.writeConfig()
  return daemon
}

/** Once on the terminal and once in the background; both end. */
async function both(program: string, ...args: string[]): Promise<[Finished, Finished]> {
  return [await run(program, args), await run(program, ['-d', ...args])]
}

const errors = ({ stderr }: Finished) => stderr.split('\n').filter((line) => /^\[?ERROR/.test(line))

function expectTheSame([foreground, background]: readonly [Finished, Finished], why: RegExp): void {
  expect(foreground.stderr).toMatch(why)
  expect(foreground.code).toBeGreaterThan(0)
  expect({ code: background.code, errors: errors(background) }).toEqual({
    code: foreground.code,
    errors: errors(foreground),
  })
}

test('a second start names the running process, and leaves its pid file and its mark alone', async () => {
  const { master } = cluster
  expectTheSame(await both('salt-master', '-c', cluster.configDir), new RegExp(`process ${master.pid}`))
  expect(await pidOf(master)).toBe(master.pid)
  expect(existsSync(join(master.directory, 'cache', '.running'))).toBe(true)
})

test('a publish port in use, or an address of another host, is reported as without -d', async () => {
  const onPort = await aMaster('on-port', { publish_port: taken })
  expectTheSame(await both('salt-master', '-c', onPort.directory), new RegExp(`:${taken}`))
  const onAddress = await aMaster('on-address', { interface: '192.0.2.1' })
  expectTheSame(await both('salt-master', '-c', onAddress.directory), /192\.0\.2\.1/)
  expect(existsSync(join(onPort.directory, 'pid'))).toBe(false)
})

test('a user that does not exist is reported as without -d', async () => {
  const master = await aMaster('no-user', { user: 'nosuchuser' })
  expectTheSame(await both('salt-master', '-c', master.directory), /nosuchuser/)
})

test('a key file that other users can read is reported as without -d', async () => {
  const master = await aMaster('open-key')
  const started = await run('salt-master', ['-d', '-c', master.directory])
  expect(started.stderr).toMatch(/salt-master is running, process \d+\.\n$/)
  const pid = await pidOf(master)
  process.kill(pid, 'SIGTERM')
  await until('its end', () => !isAlive(pid))
  await chmod(join(master.directory, 'pki', 'master.pem'), 0o644)
  expectTheSame(await both('salt-master', '-c', master.directory), /master\.pem/)
})

test('salt-api on a port in use is reported as without -d', async () => {
  await writeFile(
    join(cluster.configDir, 'master'),
    `${await readFile(join(cluster.configDir, 'master'), 'utf8')}\nrest_cherrypy: {port: ${taken}, host: 127.0.0.1, disable_ssl: true}\n`,
  )
  expectTheSame(
    await both('salt-api', '-c', cluster.configDir),
    new RegExp(`Cannot listen on 127.0.0.1:${taken}: process ${process.pid} .* set 'api:port'`),
  )
})

test('a minion counts as started when its master has answered, or has not answered in time', async () => {
  const minion = cluster.minionDaemon('back')
  await minion.writeConfig({ auth_timeout: 1, master_port: await freePort() })
  for (const says of [/does not answer/, /^salt-minion is running, process \d+\.\n$/]) {
    const { code, stderr } = await run('salt-minion', ['-d', '-c', minion.directory])
    expect(stderr).toMatch(says)
    expect(code).toBe(0)
    const pid = await pidOf(minion)
    expect(stderr).toContain(`process ${pid}.`)
    process.kill(pid, 'SIGTERM')
    await until('its end', () => !existsSync(join(minion.directory, 'pid')))
    await minion.writeConfig()
  }
})

test('a minion that gives up its master ends with exit code 69', async () => {
  const minion = cluster.minionDaemon('gives-up')
  await minion.writeConfig({
    auth_timeout: 0.2,
    auth_tries: 1,
    master_tries: 1,
    master_port: await freePort(),
  })
  const { code, stderr } = await run('salt-minion', ['-d', '-c', minion.directory])
  expect(stderr).toMatch(/cannot be reached/)
  expect(code).toBe(69)
})

test('a missing setting of a backend of external_auth is printed once when the master starts', async () => {
  const master = await aMaster('no-filename', { external_auth: { file: { ada: ['.*'] } } })
  const { code, stderr } = await run('salt-master', ['-d', '-c', master.directory])
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^\[ERROR {3}\] external_auth\.file\.\^filename is missing\.\nsalt-master is running/,
  )
  const pid = await pidOf(master)
  process.kill(pid, 'SIGTERM')
  await until('its end', () => !isAlive(pid))
})
