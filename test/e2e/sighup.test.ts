/** SIGHUP: daemons open their logs again and read their configuration again. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { selfSigned } from '../harness/certificate.ts'
import { Cluster, Daemon } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { isAlive } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** One for those tests that it can be the same for: the first ones leave in effect what was. */
let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({
    minions: ['web1'],
    master: { worker_threads: 2, nodegroups: { old: 'web1' } },
    minion: { grains: { stage: 'one' } },
  })
})
afterAll(() => cluster?.close())

async function hangUp(daemon: Daemon, ...says: string[]): Promise<void> {
  daemon.output = ''
  process.kill(daemon.pid, 'SIGHUP')
  for (const text of says) await daemon.logged(text)
}

const logOf = ({ directory }: Daemon) => join(directory, 'log')

test('a master and a minion keep their pid and connections, and write to new log files', async () => {
  for (const daemon of [cluster.master, cluster.minions.get('web1')!]) {
    await rename(logOf(daemon), `${logOf(daemon)}.1`)
    await hangUp(daemon, 'The configuration was read again (SIGHUP). No option in effect')
    await until('the line in the new log', async () =>
      (await readFile(logOf(daemon), 'utf8').catch(() => '')).includes('was read again (SIGHUP)'),
    )
    expect(existsSync(join(daemon.directory, 'pid'))).toBe(true)
    expect(existsSync(join(daemon.directory, 'cache', '.running'))).toBe(true)
    expect(daemon.output).not.toMatch(/connection|ended/)
  }
  expect((await cluster.salt('web1', 'test.ping', '--out', 'txt')).stdout).toBe('web1: True\n')
})

test('an invalid configuration is refused with a sentence, and the previous one stays in effect', async () => {
  const { master } = cluster
  await writeFile(join(master.directory, 'master'), 'worker_threads: many\n', { mode: 0o600 })
  await hangUp(master, 'The configuration could not be read again (SIGHUP)')
  expect(master.output).toMatch(/The option worker_threads in .* must be a whole number/)
  await master.writeConfig({ external_auth: { file: { ann: [{ web1: ['test.*'], web2: ['test.*'] }] } } })
  await hangUp(master, 'The configuration could not be read again (SIGHUP)')
  expect(master.output).toMatch(/external_auth\.file\.ann\[0\] must be one target .* Correct it in /)
  await master.writeConfig({ external_auth: { file: { ann: ['test.('] } } })
  await hangUp(master, 'external_auth.file.ann[0]')
  await master.writeConfig()
  expect((await cluster.salt('-N', 'old', 'test.ping', '--out', 'txt')).stdout).toBe('web1: True\n')
  await hangUp(master, 'Changed options: external_auth.') // as it was, for the next test
})

test('nodegroups, file roots and log levels are reloaded; options that need a restart are named, and jobs continue', async () => {
  const { master } = cluster
  const roots = join(cluster.root, 'srv')
  await mkdir(roots)
  await writeFile(join(roots, 'new.txt'), 'new')
  await master.writeConfig({
    nodegroups: { fresh: 'web1' },
    file_roots: { base: [roots] },
    log_granular_levels: { 'salt.master': 'debug' },
    publish_port: await freePort(),
  })
  const before = master.processes().map(({ pid }) => pid)
  const job = cluster.salt('web1', 'test.sleep', '3', '--out', 'txt')
  await hangUp(master, 'These options were changed but take effect only after a restart: publish_port.')
  expect(master.output).toMatch(/Changed options: .*log_granular_levels/)
  await until('new workers', () => master.processes().filter(({ pid }) => !before.includes(pid)).length === 2)
  expect((await job).stdout).toBe('web1: True\n')
  await until('the nodegroup', async () => {
    const { stdout } = await cluster.salt('-N', 'fresh', 'cp.list_master', '--out', 'json', '--static')
    return stdout.includes('new.txt')
  })
  expect(master.output).not.toMatch(/ERROR/)
})

test('grains of the configuration are reloaded by SIGHUP and by every refresh of the grains', async () => {
  const minion = cluster.minions.get('web1')!
  const stage = async () => (await cluster.salt('web1', 'grains.get', 'stage', '--out', 'txt')).stdout
  expect(await stage()).toBe('web1: one\n')
  await minion.writeConfig({ grains: { stage: 'two' } })
  await cluster.salt('web1', 'saltutil.refresh_grains')
  expect(await stage()).toBe('web1: two\n')
  await minion.writeConfig({ grains: { stage: 'three' } })
  await hangUp(minion, 'Changed options: grains.')
  await until('the grain', async () => (await stage()) === 'web1: three\n')
  await writeFile(join(minion.directory, 'minion'), 'grains: [\n', { mode: 0o600 })
  await cluster.salt('web1', 'saltutil.refresh_grains')
  expect(await stage()).toBe('web1: three\n')
  expect(minion.output).toContain('The grains of the configuration were not read again')
})

test('salt-api applies new settings, and keeps the old ones if the new ones are invalid', async () => {
  const [first, second] = [await freePort(), await freePort()]
  const api = (port: unknown) => ({ api: { host: '127.0.0.1', port, disable_ssl: true } })
  const own = await Cluster.open({ master: api(first) })
  onTestFinished(() => own.close())
  const { master } = own
  const answers = (port: number) => () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the API', answers(first))
  await master.writeConfig(api('http'))
  await hangUp(master, 'The configuration could not be read again (SIGHUP)')
  expect(await answers(first)()).toBe(true)
  await master.writeConfig(api(second))
  await hangUp(master, 'Changed options: api.')
  await until('the API on the other port', answers(second))
  expect(await answers(first)()).toBe(false)
  expect(isAlive(master.pid)).toBe(true)
})

test('salt-api by itself stays open where its certificate is missing when its options change', async () => {
  const port = await freePort()
  const folder = join(cluster.root, 'api')
  const { cert, key } = await selfSigned(cluster.root)
  const configOf = (more: object) => ({
    ...cluster.master.options,
    api: { start: false, host: '127.0.0.1', port, ssl_crt: cert, ssl_key: key, ...more },
  })
  const asMaster = new Daemon('salt-master', folder, configOf({}))
  await asMaster.writeConfig()
  const daemon = new Daemon('salt-api', folder, {})
  daemon.start()
  onTestFinished(() => daemon.stop())
  await daemon.logged('salt-api is ready')
  const answer = async () =>
    (await execa('curl', ['-sS', '--cacert', `${cert}.old`, `https://127.0.0.1:${port}/livez`])).exitCode
  await rename(cert, `${cert}.old`)
  await asMaster.writeConfig(configOf({ max_request_body_size: 2000 }))
  await hangUp(daemon, 'The new configuration cannot be used, the old one stays in force: The file ')
  expect(await answer()).toBe(0)
  await copyFile(`${cert}.old`, cert)
  await hangUp(daemon, `salt-api is ready at https://127.0.0.1:${port}`)
  expect(await answer()).toBe(0)
})
