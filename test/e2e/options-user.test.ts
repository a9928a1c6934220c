import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bin, Cluster, type Daemon } from '../harness/daemons.ts'
import { needs, program, ROOT } from '../harness/needs.ts'

let cluster: Cluster
afterEach(() => cluster?.close())

interface Account {
  readonly uid: number
  readonly gid: number
}

/** Users every Linux host has and nobody uses. */
function account(name: string): Account {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((row) => row.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

/** Other users may pass through the folders of a test, as they may through those of a host. */
async function passable({ root }: Cluster, ...daemons: Daemon[]): Promise<void> {
  const folders = [tmpdir(), root, ...daemons.map(({ directory }) => directory)]
  for (const path of folders) if (!((await stat(path)).mode & 0o001)) await chmod(path, 0o755)
}

/** With logs somewhere else; these are not below the folder of the master, which is that user's. */
const placesOf = ({ directory }: Daemon, logs: string) => ({
  pki_dir: join(directory, 'pki'),
  cachedir: join(directory, 'cache'),
  sock_dir: join(directory, 'run'),
  pidfile: join(directory, 'pid'),
  log_file: join(logs, 'master'),
})

const modeOf = async (...path: string[]) => (await stat(join(...path))).mode & 0o777

const saltAs = (cluster: Cluster, account: Account, ...args: string[]) =>
  runAs(cluster, account, 'salt', ...args)

async function runAs(
  { configDir }: Pick<Cluster, 'configDir'>,
  { uid, gid }: Account,
  name: string,
  ...args: string[]
) {
  const child = spawn(process.execPath, [join(bin, name), '-c', configDir, ...args], { uid, gid })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { output, code }
}

test(
  'daemons that root starts become the user of the configuration with all they start',
  needs(ROOT),
  async () => {
    const nobody = account('nobody')
    cluster = await Cluster.open({ minions: ['web1'] })
    const { master } = cluster
    const minion = cluster.minions.get('web1')!
    for (const daemon of [minion, master]) await daemon.stop()
    await passable(cluster, master, minion)

    for (const daemon of [master, minion]) {
      await daemon.writeConfig({ user: 'nobody', ...(daemon === master && { auto_accept: false }) })
      daemon.output = ''
    }
    await cluster.startMaster()
    minion.start()
    await minion.logged('is ready to receive jobs') // with the keys of before
    const { stdout } = await cluster.salt('web1', 'cmd.run', 'id -u; id -g; id -G', '--out', 'txt')
    expect(stdout.replaceAll('web1: ', '').trim().split('\n')).toEqual(
      [nobody.uid, nobody.gid, nobody.gid].map(String),
    )

    for (const { pid, command } of [...master.processes(), ...minion.processes()]) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const ids = (name: string) => [
        ...new Set(
          status
            .match(new RegExp(`^${name}:\\s*(.*)`, 'm'))?.[1]
            ?.trim()
            .split(/\s+/),
        ),
      ]
      expect({ command, uid: ids('Uid'), gid: ids('Gid'), groups: ids('Groups') }).toEqual({
        command,
        uid: [String(nobody.uid)],
        gid: [String(nobody.gid)],
        groups: [String(nobody.gid)],
      })
    }

    const late = await cluster.startMinion('web2')
    await late.logged('it is not accepted yet')
    const accepted = await cluster.spawned('salt-key', '-y', '-a', 'web2')
    expect(accepted.code).toBe(0)
    await late.logged('is ready to receive jobs')
    expect((await cluster.spawned('salt-run', 'jobs.list_jobs')).code).toBe(0)
    for (const daemon of [master, minion]) {
      for (const folder of ['pki', 'cache', 'run']) {
        for (const name of await readdir(join(daemon.directory, folder), { recursive: true })) {
          const found = statSync(join(daemon.directory, folder, name), { throwIfNoEntry: false }) // locks come and go
          if (found) expect({ name, uid: found.uid, gid: found.gid }).toEqual({ name, ...nobody })
        }
      }
      for (const name of ['log', 'pid'])
        expect((await stat(join(daemon.directory, name))).uid).toBe(nobody.uid)
    }
  },
)

test(
  'a folder with foreign files keeps its owner: the own files are handed over, and a warning says what is left to do',
  needs(ROOT),
  async () => {
    cluster = await Cluster.open({ start: false })
    const { master } = cluster
    await passable(cluster, master)
    const shared = join(cluster.root, 'shared', 'logs')
    await mkdir(shared, { recursive: true })
    await writeFile(join(shared, 'of-another-program'), '')
    await master.writeConfig({ user: 'nobody', root_dir: '/', ...placesOf(master, shared) })
    await cluster.startMaster()
    expect((await stat(shared)).uid).toBe(0)
    expect((await stat(join(shared, 'of-another-program'))).uid).toBe(0)
    expect((await stat(join(shared, 'audit.log'))).uid).toBe(account('nobody').uid)
    expect(master.output).toContain(`User nobody (option user) may not create files in ${shared}`)
    const { code } = await cluster.spawned('salt-run', 'audit.verify')
    expect(code).toBe(0)
  },
)

test(
  'publisher_acl allows another user of the host what it lists, and nothing else',
  needs(ROOT),
  async () => {
    const games = account('games')
    cluster = await Cluster.open({
      minions: ['web1', 'db1'],
      master: {
        publisher_acl: { games: ['test.ping', { 'web*': ['cmd.*'] }], man: ['test.*'] },
        publisher_acl_blacklist: { users: ['man'], modules: ['cmd.exec_code'] },
        nodegroups: { web: 'web*' },
      },
    })
    const { directory } = cluster.master
    await passable(cluster, cluster.master)
    await chmod(join(directory, 'master'), 0o644)

    const allowed = await saltAs(cluster, games, '*', 'test.ping', '--out', 'json', '--static')
    expect(allowed.output).toContain('"web1": true')
    expect(allowed.code).toBe(0)
    expect((await saltAs(cluster, games, '-N', 'web', 'cmd.run', 'echo fine', '--out', 'txt')).output).toBe(
      'web1: fine\n',
    )
    const large = await saltAs(cluster, games, 'web1', 'cmd.run', 'seq 200000')
    expect(large.output).toMatch(/^web1:\n {4}VALUE_TRIMMED$/m)
    expect(large.output).toMatch(
      /too large for an event \(max_event_size\).* salt-run jobs\.lookup_jid \d{20}$/m,
    )
    for (const refused of [
      ['web1', 'test.arg'],
      ['db1', 'cmd.run', 'id'],
      ['*', 'cmd.run', 'id'],
      ['web1', 'cmd.exec_code', 'sh', 'id'],
      ['web1', 'test.ping,test.arg'],
      ['nosuch', 'cmd.run', 'id'],
    ]) {
      expect(await saltAs(cluster, games, ...refused)).toEqual({
        output: expect.stringMatching(/Authorization error occurred|No minions matched/),
        code: expect.toBeOneOf([2, 77]),
      })
    }
    const listed = await saltAs(cluster, account('man'), 'web1', 'test.ping')
    expect(listed.code).not.toBe(0)
    const stranger = await saltAs(cluster, account('backup'), 'web1', 'test.ping')
    expect(stranger.output).toMatch(/may not act for it|may not read the events of this master/)
    expect(stranger.code).not.toBe(0)
    const key = await stat(join(directory, 'cache', '.games_key'))
    expect({ mode: key.mode & 0o777, uid: key.uid }).toEqual({ mode: 0o600, uid: games.uid })
    expect(await modeOf(directory, 'cache', '.root_key')).toBe(0o600)
    expect([await modeOf(directory, 'cache'), await modeOf(directory, 'run')]).toEqual([0o711, 0o711])
    expect(await modeOf(directory, 'pki')).toBe(0o700)
    expect(await modeOf(directory, 'run', 'master_event_pub.ipc')).toBe(0o660)
    for (const name of ['master_event_pull.ipc', 'publish_pull.ipc', 'workers.ipc']) {
      expect(await modeOf(directory, 'run', name)).toBe(0o600)
    }
  },
)

test(
  'salt-run and salt-key of a user who may not read the keys say so in one sentence, and do nothing',
  needs(ROOT),
  async () => {
    cluster = await Cluster.open()
    const { directory } = cluster.master
    const stranger = account('games')
    await passable(cluster, cluster.master)
    const configDir = join(cluster.root, 'anybody')
    await mkdir(configDir)
    const write = (options: object) => writeFile(join(configDir, 'master'), JSON.stringify(options))
    const places = placesOf(cluster.master, configDir)
    await write(places)
    for (const [name, ...words] of [
      ['salt-run', 'jobs.active'],
      ['salt-run', 'wheel', 'key.list_all'],
      ['salt-key', '-L'],
      ['salt-key', '--invites'],
    ] as const) {
      const sentence = `User 'games' may not use the keys of this master, in ${join(directory, 'pki')}, which ${name} needs.`
      expect(await runAs({ configDir }, stranger, name, ...words)).toEqual({
        output: `ERROR: ${sentence} Run it with sudo, or as the user of the master.\n`,
        code: 77,
      })
    }
    await write({ ...places, user: 'root' })
    expect(await runAs({ configDir }, stranger, 'salt-run', 'jobs.active')).toEqual({
      output: `ERROR: salt-run must be run by root (option 'user' in ${configDir}/master); you are 'games'. Run it with sudo, or as that user.\n`,
      code: 77,
    })
  },
)

describe('a master of another user', needs(ROOT), () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.open({
      start: false,
      master: { user: 'nobody', log_file: '/logs/master', publisher_acl: { games: ['test.*'] } },
    })
    await passable(cluster, cluster.master)
    await chmod(join(cluster.configDir, 'master'), 0o644)
    await cluster.startMaster()
  })
  afterAll(() => cluster?.close())

  test(
    'a master that root starts for another user writes its logs in a new folder, also after logrotate',
    needs(ROOT, program('logrotate')),
    async () => {
      const { master } = cluster
      const logs = join(master.directory, 'logs')
      const verified = async () => {
        await cluster.spawned('salt-run', 'test.arg', 'one')
        const { stdout, stderr, code } = await cluster.spawned('salt-run', 'audit.verify', '--out', 'json')
        expect({ ...JSON.parse(stdout), stderr, code }).toMatchObject({ valid: true, stderr: '', code: 0 })
        return JSON.parse(stdout).lines
      }
      const before = await verified()
      for (const how of ['nocreate', 'copytruncate']) {
        const rules = join(cluster.root, how)
        const names = ['master', 'audit.log', 'key-audit.log'].map((name) => join(logs, name)).join(' ')
        await writeFile(
          rules,
          `su nobody nogroup\n${names} {\n  rotate 9\n  missingok\n  nocompress\n  ${how}\n}\n`,
        )
        execFileSync('logrotate', ['-f', '-s', `${rules}.state`, rules])
        expect(await verified()).toBeGreaterThan(before)
        expect(await readdir(logs)).toEqual(expect.arrayContaining(['audit.log', 'audit.log.1']))
      }
      for (const name of await readdir(logs))
        expect((await stat(join(logs, name))).uid).toBe(account('nobody').uid)
      expect(master.output).not.toMatch(/may not create files|cannot be written|not written/)
    },
  )

  test(
    'publisher_acl has effect, too, under a user that is not root, where root starts the master',
    needs(ROOT),
    async () => {
      const games = account('games')
      const { master } = cluster
      await cluster.addMinion('web1')
      for (let start = 0; start < 2; start++) {
        if (start > 0) {
          await master.stop()
          await cluster.startMaster()
        }
        const answer = await saltAs(cluster, games, 'web1', 'test.arg', 'one', '--out', 'json')
        expect(answer).toMatchObject({ output: expect.stringContaining('"one"'), code: 0 })
        expect(await saltAs(cluster, games, 'web1', 'cmd.run', 'id')).toMatchObject({ code: 77 })
        expect((await saltAs(cluster, account('man'), 'web1', 'test.ping')).code).not.toBe(0)
        expect(master.output).not.toMatch(/has no effect|cannot see/)
      }
      const key = await stat(join(master.directory, 'cache', '.games_key'))
      expect([key.mode & 0o777, key.uid, key.gid]).toEqual([0o640, games.uid, account('nobody').gid])
    },
  )
})
