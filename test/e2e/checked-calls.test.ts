/** How `salt` reads typed words, and refuses calls that cannot work, before anything is sent. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import { Catalogues } from '../../core/cache/catalogues.ts'
import { jobRequest } from '../../core/cli/jobs/job-request.ts'
import { type LocalClient, RunnerClient } from '../../core/client/index.ts'
import { jobCacheDirectory, minionDataDirectory } from '../../core/config/cachedir.ts'
import type { Event } from '../../core/events/index.ts'
import { Cluster, reportsModules, run } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

const MODULE = `import { fn, p } from 'salt-ts'
export const install = fn(
  { name: p.string(), version: p.optional(p.string()), force: p.default(p.boolean(), false) },
  (args) => args,
)
export const tags = fn({ list: p.array(p.string()), map: p.default(p.record(p.string()), {}) }, (args) => args)
export const login = fn({ user: p.string(), password: p.secret(p.string()) }, ({ password }) => password.length)
export const plain = (...values) => values
`

let cluster: Cluster
let client: LocalClient
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-modules-')
  for (const kind of ['modules', 'runners']) {
    await mkdir(join(folder, kind))
    await writeFile(join(folder, kind, 'words.js'), MODULE)
  }
  cluster = await Cluster.open({ master: { runner_dirs: [join(folder, 'runners')] } })
  await Promise.all([
    cluster.addMinion('web1', { module_dirs: [folder], ...reportsModules }),
    cluster.addMinion('db1', reportsModules),
  ])
  await Promise.all(['web1', 'db1'].map(reported))
  client = await cluster.client()
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
  await removeFolder(folder)
})

const withCatalogues = async <T>(look: (catalogues: Catalogues) => T): Promise<T> => {
  const catalogues = Catalogues.open(minionDataDirectory(cluster.config))
  return Promise.resolve(look(catalogues)).finally(() => catalogues.close())
}
const reported = (id: string) =>
  until(`the catalogue of ${id}`, () => withCatalogues((catalogues) => catalogues.hash(id)))

/** What `salt web1` gives for these words, and the reason if it fails. */
const typed = async (...args: string[]) => {
  const { stdout, stderr, code } = await cluster.salt('web1', ...args, '--out', 'json')
  return code === 0 ? (JSON.parse(stdout) as { web1: unknown }).web1 : stderr
}
/** The same without the command: its request, sent from here, which costs less. */
const value = async (...args: string[]) => (await returnsOf(client, jobRequest(['web1', ...args], {}))).web1

describe('declared types decide how a typed word is read', () => {
  test('on a minion', async () => {
    expect(await typed('words.install', 'yes', 'version=1.10', 'force=yes')).toEqual({
      name: 'yes',
      version: '1.10',
      force: true,
    })
    expect(await value('words.install', '0755', '12345678901234567890')).toMatchObject({
      name: '0755',
      version: '12345678901234567890',
    })
    expect(await value('words.tags', '[1.10, yes, "2"]', 'map={a: 1.10, b: off}')).toEqual({
      list: ['1.10', 'yes', '2'],
      map: { a: '1.10', b: 'off' },
    })
    expect(await value('words.install,words.plain', '1.10', ',', '1.10', 'yes')).toEqual({
      'words.install': { name: '1.10', force: false },
      'words.plain': [1.1, true],
    })
  })
  test('an undeclared type is what Salt makes of the word, and functions that see the job see the same value', async () => {
    expect(await value('words.plain', '1.10', '0755', 'yes', '[a, 1.10]', 'null')).toEqual([
      1.1,
      755,
      true,
      ['a', 1.1],
      null,
    ])
    const { kwargs } = (await value('test.arg', '1.10', 'a=yes')) as { kwargs: Record<string, unknown> }
    expect(kwargs.a).toBe(true)
    expect(Object.keys(kwargs).filter((key) => /word/.test(key))).toEqual([])
  })
  test('with salt-call and salt-run, too', async () => {
    const config = ['-c', cluster.minions.get('web1')!.directory, '--local']
    const called = await run('salt-call', [
      ...config,
      'words.install',
      '0755',
      'version=1.10',
      '--out',
      'json',
    ])
    expect(JSON.parse(called.stdout)).toEqual({ local: { name: '0755', version: '1.10', force: false } })
    const ran = await cluster.spawned('salt-run', 'words.install', 'no', 'version=1.10', '--out', 'json')
    expect(JSON.parse(ran.stdout)).toEqual({ name: 'no', version: '1.10', force: false })
  })
  test('a secret word is stored and logged nowhere', async () => {
    const bus = await cluster.events()
    const seen: Event[] = []
    const subscription = bus.subscribe('')
    const reading = (async () => {
      for await (const event of subscription) seen.push(event)
    })()
    expect(await typed('words.login', 'bob', '0071077345')).toBe(10)
    await until('the return to be seen', () => seen.some(({ tag }) => tag.endsWith('/ret/web1')))
    subscription.close()
    await reading
    await bus.close()
    expect(JSON.stringify(seen)).not.toMatch(/71077345/)
    const jobs = await readFile(join(jobCacheDirectory(cluster.config), 'jobs.mdb'), 'latin1')
    expect(jobs).not.toContain('71077345')
    expect(cluster.master.output + cluster.minions.get('web1')!.output).not.toContain('71077345')
  })
})

describe('a call that cannot work', () => {
  test.each([
    [['test.pign'], "'test.pign' is not available. Did you mean 'test.ping'?"],
    [['test.sleep', 'soon'], `'length' must be a number, not "soon"`],
    [['test.sleep'], "missing 1 required positional argument: 'length'"],
  ])('%j is refused with exit code 64 and a sentence, on standard error', async (words, sentence) => {
    // Minions that have no time to answer are sent the call without more ado.
    const { stdout, stderr } = await until('a refusal with exit code 64', async () => {
      const ended = await cluster.salt('*', ...words)
      return ended.code === 64 && ended
    })
    expect(stdout).toBe('')
    expect(stderr).toContain('ERROR: No command was sent, because no minion would run it: ')
    expect(stderr).toContain(sentence)
    expect(stderr).toContain('--no-check')
  })
  test('is sent with --no-check, and by clients with check: false', async () => {
    const { stdout, code } = await cluster.salt('*', 'test.pign', '--no-check')
    expect(stdout.match(/'test.pign' is not available\./g)).toHaveLength(2)
    expect(code).not.toBe(0)
    await expect(client.runJob({ tgt: '*', fun: untyped('test.pign') })).rejects.toMatchObject({
      code: 'CALL_REFUSED',
    })
    const { minions } = await client.runJob({ tgt: '*', fun: untyped('test.pign'), check: false })
    expect(minions).toHaveLength(2)
  })
  test('is refused when several are checked at once, too, whichever worker of the master gets the answers', async () => {
    const refused = async () => {
      const calls = Array.from({ length: 6 }, (_, n) =>
        client.runJob({ tgt: '*', fun: untyped(`test.pign${n}`) }),
      )
      const ends = await Promise.allSettled(calls)
      return ends.every((end) => end.status === 'rejected' && end.reason.code === 'CALL_REFUSED')
    }
    // A minion that a busy host keeps from answering in time has the job sent.
    await until('all six are refused', refused)
  })
  test('on some minions only is sent, after they are named on standard error', async () => {
    const { stdout, stderr } = await cluster.salt('*', 'words.plain', '7', '--out', 'json', '--static')
    expect(stderr).toContain(
      "WARNING: db1 would refuse this, as far as the master knows: 'words.plain' is not available.",
    )
    expect(JSON.parse(stdout)).toEqual({ web1: [7], db1: "'words.plain' is not available." })
  })
  test('works as soon as a minion has the file for it', async () => {
    await writeFile(join(folder, 'modules', 'later.js'), 'export const now = () => 7\n')
    expect(await value('later.now')).toBe(7)
  })
  test('is refused on a minion with a module that hangs or is broken, too', async () => {
    await writeFile(join(folder, 'modules', 'broken.js'), 'throw new Error("on purpose")\n')
    // A minion that a busy host keeps from answering in time is sent the call.
    const { stderr } = await until('a refusal with exit code 64', async () => {
      const ended = await cluster.salt('web1', 'broken.now')
      return ended.code === 64 && ended
    })
    expect(stderr).toContain('on purpose')
    await rm(join(folder, 'modules', 'broken.js'))
  })
})

describe('salt --plan', () => {
  test('shows what would happen, and changes nothing', async () => {
    const runners = new RunnerClient({ config: cluster.config, log: quietLog, user: 'ann' })
    const jobs = async () => (await runners.run('jobs.list_jobs', [], {})).return
    const before = await jobs()
    await until('both minions to be known as connected', async () => {
      const plan = await client.plan({ tgt: '*', fun: 'test.ping' })
      return plan.allowed && plan.connected.length === 2
    })
    const { stdout, code } = await cluster.salt('*', 'words.login', 'bob', '0755', '--plan', '--out', 'json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      allowed: true,
      user: expect.any(String),
      rule: "the key of the master's user",
      connected: ['db1', 'web1'],
      groups: [
        {
          minions: ['db1'],
          calls: [{ fun: 'words.login', 'would refuse': "'words.login' is not available." }],
        },
        {
          minions: ['web1'],
          calls: [{ fun: 'words.login', arguments: { user: 'bob', password: '**********' } }],
        },
      ],
    })
    const fine = await cluster.salt('web1', 'words.install', '1.10', '--plan', '--out', 'json')
    expect(fine.code).toBe(0)
    expect(JSON.parse(fine.stdout).groups[0].calls[0].arguments).toEqual({ name: '1.10', force: false })
    expect(await jobs()).toEqual(before)
    await runners.close()
  })
  test('refuses calls for which minions would have to be asked first', async () => {
    const { stderr, code } = await cluster.salt('*', 'test.ping', '--plan', '--subset', '1')
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining('--subset'), code: 64 })
  })
  test('reports a target without minions', async () => {
    const { stderr, code } = await cluster.salt('nobody', 'test.ping', '--plan')
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining('No minions match'), code: 2 })
  })
})
