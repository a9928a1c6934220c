import { existsSync } from 'node:fs'
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster, jobsWithin, run } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
const inMaster = (...path: string[]) => join(cluster.master.directory, ...path)
const modeOf = async (...path: string[]) => (await stat(inMaster(...path))).mode & 0o777
const ping = async (...target: string[]) =>
  (await cluster.salt(...target, 'test.ping', '--out', 'txt')).stdout.trim().split('\n').sort()

async function restartMaster(options: Record<string, unknown>): Promise<void> {
  await cluster.master.stop()
  await cluster.master.writeConfig(options)
  await cluster.startMaster()
}

beforeAll(async () => {
  cluster = await Cluster.open({
    minions: ['web1', 'db1'],
    minion: jobsWithin,
    master: {
      cachedir: '/var/cache/salt/master',
      sock_dir: '/var/run/salt/master',
      log_file: '/var/log/salt/master',
      pidfile: '/var/run/salt-master.pid',
      log_level_logfile: 'debug',
      log_fmt_logfile: '<%(levelname)s> %(message)s',
      max_open_files: 30_000_000,
      job_cache: false,
      minion_data_cache: false,
      unique_jid: true,
      timeout: 1,
      gather_job_timeout: 2,
      nodegroups: { web: 'L@web1,web2', all: ['N@web', 'or', 'db*'] },
      publisher_port: 4505,
    },
  })
})
afterAll(() => cluster?.close())

test("all paths are under root_dir, directories are for the master's user only, and sockets are in sock_dir", async () => {
  for (const path of ['var/cache/salt/master', 'var/run/salt/master', 'pki'])
    expect(await modeOf(path)).toBe(0o700)
  for (const path of ['var/cache/salt', 'var/run/salt']) expect(await modeOf(path)).toBe(0o755)
  const sockets = await readdir(inMaster('var/run/salt/master'))
  expect(sockets.sort()).toEqual([
    'master_event_pub.ipc',
    'master_event_pull.ipc',
    'publish_pull.ipc',
    'workers.ipc',
  ])
  for (const name of sockets) expect(await modeOf('var/run/salt/master', name)).toBe(0o600)
  expect(await readFile(inMaster('var/run/salt-master.pid'), 'utf8')).toBe(`${cluster.master.pid}\n`)
})

test('the log file has a level and a format of its own', async () => {
  const log = await readFile(inMaster('var/log/salt/master'), 'utf8')
  expect(log).toMatch(/^<INFO> salt-master is ready on 127\.0\.0\.1/m)
  expect(cluster.master.output).toMatch(/^\[INFO {4}\] salt-master is ready on 127\.0\.0\.1/m)
  await ping('web1')
  await until('a debug line', async () =>
    /^<DEBUG> /m.test(await readFile(inMaster('var/log/salt/master'), 'utf8')),
  )
  expect(cluster.master.output).not.toContain('DEBUG')
})

test('an unknown option, and a limit of too few open files, are warned about, with the value to set', () => {
  expect(cluster.master.output).toContain("Did you mean 'publish_port'?")
  expect(cluster.master.output).toMatch(
    /\[WARNING ] This process may open \d+ files.*Set LimitNOFILE=30000000/,
  )
})

test('nodegroups are targets', async () => {
  expect(await ping('-N', 'web')).toEqual(['web1: True'])
  expect(await ping('-N', 'all')).toEqual(['db1: True', 'web1: True'])
})

test('without job_cache and minion_data_cache jobs work and nothing is stored', async () => {
  const { stdout } = await cluster.salt('--show-jid', 'web1', 'test.echo', 'gone', '--out', 'txt')
  expect(stdout).toMatch(/^jid: \d{20}_\d+\nweb1: gone\n$/)
  expect(await ping('-G', 'id:web1', '-t', '5')).toContain('web1: True')
  const listed = await cluster.command('salt-run', 'jobs.list_jobs', '--out', 'json')
  expect(JSON.parse(listed.stdout)).toEqual({})
})

test('timeout and gather_job_timeout are how long a silent minion is waited for, at least', async () => {
  await cluster.minions.get('db1')!.stop()
  const { stdout, code, ms } = await cluster.salt('db1', 'test.ping', '--out', 'txt')
  expect(stdout).toContain('db1: Minion did not return.')
  expect(code).not.toBe(0)
  expect(ms).toBeGreaterThan(3000)
})

test('keep_jobs_seconds is how long jobs are kept', async () => {
  await restartMaster({ job_cache: true, keep_jobs_seconds: 5, loop_interval: 1 })
  await cluster.minions.get('web1')!.logged('is ready to receive jobs')
  const jobs = async () => {
    const { stdout } = await cluster.command('salt-run', 'jobs.list_jobs', '--out', 'json')
    return Object.keys(JSON.parse(stdout)).length
  }
  await until('a job to be listed', async () => {
    await ping('web1')
    return (await jobs()) > 0
  })
  await until('the jobs to be forgotten', async () => (await jobs()) === 0)
})

test('after a clean end stores are not checked; after a crash a damaged store is moved aside, and the master works', async () => {
  const { master } = cluster
  const cache = inMaster('var/cache/salt/master')
  await master.stop()
  expect(existsSync(join(cache, '.running'))).toBe(false)
  expect(existsSync(inMaster('var/run/salt-master.pid'))).toBe(false)

  await master.writeConfig({ job_cache: true })
  await cluster.startMaster()
  expect(existsSync(join(cache, '.running'))).toBe(true)
  await until('a job in the store', async () => (await ping('web1')).includes('web1: True'))
  await master.killAll()
  const file = await open(join(cache, 'job_cache', 'jobs.mdb'), 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192) // the pages behind the two heads
  await file.close()
  await cluster.startMaster()
  expect(master.output).toMatch(/The store .*jobs\.mdb is damaged .* It was moved to .*damaged-/)
  await until('the minion', async () => (await ping('web1')).includes('web1: True'))
})

test('-d starts in the background, and the pid file has its process id', async () => {
  const minion = cluster.minionDaemon('back')
  await minion.writeConfig()
  const pidFile = join(minion.directory, 'run', 'minion.pid')
  const logFile = join(minion.directory, 'elsewhere', 'minion.log')
  const files = ['--pid-file', pidFile, '--log-file', logFile]
  const { code } = await run('salt-minion', ['-d', '-c', minion.directory, ...files, '-l', 'info'])
  expect(code).toBe(0)
  const pid = await until(
    'the pid file',
    async () => Number(await readFile(pidFile, 'utf8').catch(() => '')) || undefined,
  )
  try {
    await until('the minion', async () => (await ping('back')).includes('back: True'))
    await until('its log', async () =>
      (await readFile(logFile, 'utf8')).includes('Minion back is ready to receive jobs'),
    )
  } finally {
    process.kill(pid, 'SIGTERM')
  }
  await until('its end', () => !existsSync(pidFile))
})

test('-u names the user to run as; a user that does not exist is refused', async () => {
  const { code, stderr } = await run('salt-master', ['-c', cluster.configDir, '-u', 'nosuchuser'])
  expect(stderr).toMatch(/There is no user 'nosuchuser' on this host|salt-master must be run by nosuchuser/)
  expect(code).not.toBe(0)
})

test('an option of the wrong type keeps the master from starting, with file, key and reason', async () => {
  const { master } = cluster
  await master.stop()
  await writeFile(inMaster('master'), 'worker_threads: many\n', { mode: 0o600 })
  master.output = ''
  master.start()
  await master.exited()
  expect(master.exitCode).not.toBe(0)
  expect(master.output).toContain(`The option worker_threads in ${inMaster('master')} must be a whole number`)
})
