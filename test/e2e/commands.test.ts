/** Commands as users type them: targets, outputs, exit codes, and standard error. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunnerClient } from '../../core/client/index.ts'
import { tags } from '../../core/events/index.ts'
import { bin, Cluster } from '../harness/daemons.ts'
import { quietLog } from '../harness/log.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { runHere } from '../harness/run-here.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import { eventually, until } from '../harness/until.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({ master: { nodegroups: { front: 'L@web1' } } })
  await Promise.all([
    cluster.addMinion('web1', { grains: { role: 'web' } }),
    cluster.addMinion('db1', { grains: { role: 'db' } }),
  ])
})
afterAll(() => cluster?.close())

const salt = (...args: string[]) => cluster.salt(...args)
const json = async (...args: string[]) => {
  const { stdout, code } = await salt(...args, '--out', 'json', '--static')
  return { code, value: JSON.parse(stdout) as Record<string, unknown> }
}
/** What a runner gives; in this process, which costs less. */
async function ask(fun: string, ...args: string[]): Promise<unknown> {
  const client = new RunnerClient({ config: cluster.config, log: quietLog, user: 'ann' })
  const result = await client.run(fun, args, {})
  await client.close()
  return result.return
}
const call = (...args: string[]) =>
  runHere('salt-call', ['-c', cluster.minions.get('web1')!.directory, '--local', ...args])

describe('salt', () => {
  test.each([
    [['web*'], ['web1']],
    [
      ['-E', '(web|db)\\d'],
      ['db1', 'web1'],
    ],
    [
      ['-L', 'db1,web1'],
      ['db1', 'web1'],
    ],
    [['-G', 'role:d*'], ['db1']],
    [['-P', 'role:^w.b$'], ['web1']],
    [
      ['-C', 'G@role:web or db*'],
      ['db1', 'web1'],
    ],
    [['-N', 'front'], ['web1']],
    [
      ['-S', '127.0.0.1'],
      ['db1', 'web1'],
    ],
  ])('the target %j matches %j', async (target, ids) => {
    const { value, code } = await json(...target, 'test.ping')
    expect([Object.keys(value).sort(), code]).toEqual([ids, 0])
    const preview = await salt(...target, '--preview-target', '--out', 'json')
    expect(JSON.parse(preview.stdout)).toEqual(ids)
  })

  test('--preview-target says why no minion matches', async () => {
    const { stdout, stderr, code } = await salt('-G', 'role:wbe', '--preview-target')
    expect([stdout, code]).toEqual(['', 2])
    expect(stderr).toContain('No minions match the target.')
    expect(stderr).toContain("none with a value that matches 'wbe'")
  })

  test.each([
    ['nested', 'web1:\n    True\n'],
    ['json', '{\n    "web1": true\n}\n'],
    ['yaml', 'web1: true\n'],
    ['raw', "{'web1': True}\n"],
    ['txt', 'web1: True\n'],
    ['pprint', "{'web1': True}\n"],
    ['quiet', ''],
  ])('--out %s', async (out, text) => {
    expect((await salt('web1', 'test.ping', '--out', out, '--no-color')).stdout).toBe(text)
  })

  test('--async prints the job id and does not wait', async () => {
    const { stdout, code } = await salt('--async', '*', 'test.sleep', '600')
    expect(stdout).toMatch(/^Executed command with job ID: \d{20}\n$/)
    expect(code).toBe(0)
    const client = await cluster.client()
    await returnsOf(client, { tgt: '*', fun: 'saltutil.kill_all_jobs' })
    await client.close()
  })

  test('-v and --show-jid name the job before the results', async () => {
    const verbose = await salt('-v', 'web1', 'test.ping', '--out', 'txt')
    expect(verbose.stdout).toMatch(/^Executing job with jid \d{20}\n-{43}\n\nweb1: True\n$/)
    const shown = await salt('--show-jid', 'web1', 'test.ping', '--out', 'txt')
    expect(shown.stdout).toMatch(/^jid: \d{20}\nweb1: True\n$/)
    expect([verbose.stderr, shown.stderr]).toEqual(['', ''])
  })

  test('--subset picks minions that have the function', async () => {
    const { value, code } = await json('--subset', '1', '*', 'test.ping')
    expect([Object.values(value), code]).toEqual([[true], 0])
    expect((await salt('--async', '--subset', '1', '*', 'test.ping')).stdout).toContain('job ID')
    const none = await salt('--subset', '1', '*', 'no.such')
    expect([none.stdout, none.code]).toEqual(['', 2])
    expect(none.stderr).toContain('has no.such. No command was sent.')
  })

  test.each([[[]], [['-b', '1']]])(
    'a return that is too large for an event is shown whole: salt %j',
    async (flags) => {
      const { value, code } = await json(...flags, '*', 'cmd.run', 'seq 200000')
      const sizes = Object.values(value).map((text) => String(text).split('\n').length)
      expect([sizes, code]).toEqual([[200_000, 200_000], 0])
    },
  )

  test('sys.doc is shown once, not for each minion; other formats than nested show all of it', async () => {
    const { stdout } = await salt('*', 'sys.doc', 'test.ping')
    expect(stdout).toMatch(/^test\.ping:\n\n {4}Return true/)
    expect(stdout.match(/test\.ping:/g)).toHaveLength(1)
    const programs = await salt('*', 'sys.doc', 'test.ping', '--out', 'json', '--static')
    expect(Object.keys(JSON.parse(programs.stdout)).sort()).toEqual(['db1', 'web1'])
  })

  test('-b runs in waves, and its jid is that of all of them', async () => {
    const people = await salt('-b', '1', '*', 'test.ping', '--no-color', '-v')
    expect(people.stdout.match(/^Executing run on \['(db1|web1)'\]$/gm)).toHaveLength(2)
    const [jid = ''] = /\d{20}/.exec(people.stdout) ?? []
    expect(await ask('jobs.lookup_jid', jid)).toEqual({ db1: true, web1: true })
    const programs = await salt(
      '-b',
      '50%',
      '*',
      'test.retcode',
      '3',
      '--failhard',
      '--out',
      'json',
      '--static',
    )
    expect(Object.keys(JSON.parse(programs.stdout)).sort()).toEqual(['db1', 'web1'])
    expect(programs.stderr).toContain('Batch run stopped due to failhard. Not reached: ')
    expect(programs.code).toBe(1)
    const safe = await salt('*', 'test.ping', '--batch-safe-limit', '2', '--batch-safe-size', '1')
    expect(safe.stdout).toContain('NOTICE: Too many minions targeted, switching to batch execution.')
    const started = await salt('-b', '1', '*', 'test.ping', '--async')
    expect(started.stdout).toMatch(/^Executed command with job ID: \d{20}\n$/)
  })

  test('-d shows documentation, each function once', async () => {
    const { stdout, code } = await salt('-d', '*', 'test.ping')
    expect(stdout.match(/^test\.ping:$/gm)).toHaveLength(1)
    expect(code).toBe(0)
    expect((await salt('-d', '*', 'no.such')).code).toBe(2)
  })

  test('exit codes show success and failure, also of several functions in one job', async () => {
    const codes = async (...args: string[]) => (await salt(...args)).code
    expect(await codes('*', 'test.ping,test.echo', ',', 'x')).toBe(0)
    expect(await codes('*', 'test.ping,test.retcode', ',', '3')).toBe(1)
    expect(await codes('web1', 'cmd.run,test.ping', 'kill -9 $$', ',')).toBe(1)
    expect(await codes('*', 'no.such', '--no-check')).toBe(1)
    expect(await codes('nobody', 'test.ping')).toBe(2)
    expect(await codes('--static', '*', 'test.retcode', '1')).toBe(1)
    const passed = ['--retcode-passthrough', '*', 'test.retcode', '42']
    expect([await codes(...passed), (await cluster.spawned('salt', ...passed)).code]).toEqual([42, 42])
    expect(await codes('-a', 'pam', '--username', 'x', '--password', 'y', '*', 'test.ping')).toBe(77)
  })

  test('a target without minions is reported on standard error', async () => {
    const { stdout, stderr } = await salt('nobody', 'test.ping')
    expect(stdout).toBe('')
    expect(stderr).toContain('No minions matched the target. No command was sent, no jid was assigned.')
  })

  test('Ctrl-C ends the command and prints the job id, and the job continues', async () => {
    const go = join(cluster.root, 'go')
    const loop = `until [ -e ${go} ]; do sleep 0.1; done; echo done`
    const waiting = typed('salt', '-v', 'web1', 'cmd.run', loop)
    const jid = await until('the job id', () => /with jid (\d{20})/.exec(waiting.texts.stdout)?.[1])
    waiting.child.kill('SIGINT')
    const { stderr, code } = await waiting.ended
    expect(code).toBe(130)
    expect(stderr).toContain(`salt-run jobs.lookup_jid ${jid}`)
    await writeFile(go, '')
    const { config } = cluster
    await until('the return', () => readJobCache({ config }, (cache) => cache.return(jid, 'web1')))
    const found = await cluster.command('salt-run', 'jobs.lookup_jid', jid, '--out', 'json')
    expect(found.stdout).toContain('"done"')
  })
})

describe('salt-run', () => {
  const runner = (...args: string[]) => cluster.command('salt-run', ...args)

  test('manage lists the minions that are up, and their versions', async () => {
    expect(JSON.parse((await runner('manage.up', '--out', 'json')).stdout)).toEqual(['db1', 'web1'])
    expect(await ask('manage.status')).toEqual({ down: [], up: ['db1', 'web1'] })
    // The master writes the list of connected minions from time to time.
    await eventually(async () => expect(await ask('manage.present')).toEqual(['db1', 'web1']))
    const versions = (await ask('manage.versions')) as { 'Up to date': object }
    expect(Object.keys(versions['Up to date'])).toHaveLength(2)
  })

  test('every runner accepts -t, the time to wait for minions', async () => {
    expect((await runner('-t', '2', 'manage.up')).code).toBe(0)
    expect((await runner('-t', '2', 'test.arg', '1')).code).toBe(0)
  })

  test('failures are reported on standard error, with an exit code', async () => {
    const { stdout, stderr, code } = await runner('jobs.lookup_jid', '1')
    expect([stdout, code]).toEqual(['', 1])
    expect(stderr).toContain("'1' is not a job id (20 digits).")
  })

  test('event.send is seen by event.listen', async () => {
    const bus = await cluster.events()
    const news = bus.subscribe((tag) => tag.startsWith('salt/run/') && tag.endsWith('/new'))
    const listening = typed('salt-run', 'event.listen', 'my/*', 'count=1')
    for await (const _ of news) break
    await bus.close()
    // It listens a moment after it has begun: an event that comes too soon is sent once more.
    await until('the event', async () => {
      await runner('event.send', 'my/tag', '{a: 1}')
      return Promise.race([listening.ended.then(() => true), delay(500, false)])
    })
    const { stdout, code } = await listening.ended
    expect(stdout).toMatch(/^my\/tag\t\{"a": 1,/)
    expect(code).toBe(0)
  })

  test('Ctrl-C ends a runner at once', async () => {
    const bus = await cluster.events()
    const news = bus.subscribe((tag) => tag.startsWith('salt/run/') && tag.endsWith('/new'))
    const sleeping = typed('salt-run', 'test.sleep', '60')
    for await (const _ of news) break
    sleeping.child.kill('SIGINT')
    expect(await sleeping.ended).toEqual({
      stdout: '',
      stderr: expect.stringContaining('The runner is stopped'),
      code: 130,
    })
    await bus.close()
  })

  test('--eauth with a backend that is not configured is refused with the probable reason', async () => {
    const who = ['--eauth', 'pam', '--username', 'ann', '--password', 'x']
    const refused = 'external_auth of the master does not name the eauth backend pam or this user'
    for (const [program, ...words] of [
      ['salt-run', 'jobs.active'],
      ['salt-run', 'wheel', 'key.list_all'],
      ['salt-run', '-T', 'jobs.active'],
      ['salt-key', '-L'],
    ] as const) {
      const { stdout, stderr, code } = await cluster.command(program, ...who, ...words)
      expect([stdout, code]).toEqual(['', 77])
      expect(stderr).toContain(refused)
      expect(stderr).not.toContain('ended its process')
    }
    const token = await runner('auth.mk_token', 'eauth=pam', 'username=ann', 'password=x')
    expect([token.stdout, token.code]).toEqual(['', 77])
    expect(token.stderr).toContain(refused)
  })

  test('-q prints nothing, and without a function the documentation is shown', async () => {
    expect((await runner('-q', 'test.arg', '1')).stdout).toBe('')
    expect((await runner()).stdout).toContain('jobs.list_jobs:')
    expect((await runner('-d', 'jobs.active')).stdout).toContain('jobs.active:')
  })
})

test.each([
  ['salt', 'we', 'web1'],
  ['salt', '-G role:', 'role:web'],
  ['salt', 'web1 test.pi', 'test.ping'],
  ['salt', 'web1 test.sleep ', 'length='],
  ['salt-run', 'jobs.lookup', 'jobs.lookup_jid'],
  ['salt-key', '-d d', 'db1'],
])('Tab after %s %s offers %s', async (program, typed, word) => {
  const env = { XDG_CACHE_HOME: cluster.master.directory, SALT_TS_COMPLETION_SECONDS: '60' }
  const line = `${program} -c ${cluster.configDir} ${typed}`
  const { stdout } = await execa('sh', [join(bin, 'complete.sh'), line], { env })
  expect(stdout.split('\n').map((row) => row.split('\t')[0])).toContain(word)
})

test('a program gets the same results, under the names of Salt', async () => {
  const client = await cluster.client()
  const request = { tgt: '*', fun: 'test.echo' as const, arg: ['x'] }
  expect(await returnsOf(client, request)).toEqual({ db1: 'x', web1: 'x' })
  const results = []
  for await (const result of await client.cmdIter(request)) results.push([result.id, result.state])
  expect(results.sort()).toEqual([
    ['db1', 'returned'],
    ['web1', 'returned'],
  ])
  expect((await client.cmdSubset(request, 1)).minions).toHaveLength(1)
  expect(await client.cmdAsync(request)).toMatch(/^\d{20}$/)
  expect(await client.runJob(request)).toMatchObject({ minions: ['db1', 'web1'], missing: [] })
  const waves: unknown[] = []
  const batch = await client.cmdBatch(request, 1, { onWave: ({ minions }) => waves.push(minions) })
  const answered: string[] = []
  for await (const { id } of batch) answered.push(id)
  expect(waves).toEqual(answered.map((id) => [id]))
  await client.close()
})

test('salt-call sends its return to the master, except with --no-return-event', async () => {
  const bus = await cluster.events()
  const news = bus.subscribe((tag) => tag.startsWith(tags.jobs) && tag.endsWith('/ret/web1'))
  const { directory } = cluster.minions.get('web1')!
  const told = ['--no-return-event', '--no-color']
  for (const flag of told) await runHere('salt-call', ['-c', directory, flag, 'test.echo', `said ${flag}`])
  for await (const { data } of news) {
    if (!String(data.return).startsWith('said')) continue
    expect(data).toMatchObject({ fun: 'test.echo', return: 'said --no-color' })
    break
  }
  await bus.close()
})

describe('salt-call --local', () => {
  test('passes functions the fields of the call that Salt passes', async () => {
    const { stdout } = await call('test.kwarg', 'a=1', '--out', 'json')
    expect(JSON.parse(stdout).local).toEqual({
      a: 1,
      __pub_fun: 'test.kwarg',
      __pub_jid: expect.stringMatching(/^\d{20}$/),
      __pub_pid: process.pid,
      __pub_tgt: 'salt-call',
    })
  })

  test('prints the value under local, or the whole return with --metadata', async () => {
    expect((await call('test.echo', 'x', '--out', 'txt')).stdout).toBe('local: x\n')
    const { stdout } = await call('--metadata', 'test.retcode', '3', '--out', 'json')
    expect(JSON.parse(stdout).local).toMatchObject({
      return: true,
      retcode: 3,
      success: false,
      fun: 'test.retcode',
      id: 'web1',
    })
  })

  test('a function gets no fields of its job that are undefined', async () => {
    const { kwargs } = JSON.parse((await call('test.arg', '--out', 'json')).stdout).local
    expect(Object.keys(kwargs)).toContain('__pub_fun')
    expect(kwargs).not.toHaveProperty('__pub_metadata')
  })

  test('failures are reported on standard error', async () => {
    const missing = await call('no.such')
    expect([missing.stdout, missing.code]).toEqual(['', 255])
    expect(missing.stderr).toContain("'no.such' is not available.")
    const failed = await call('test.exception', 'Oh noes!', '--out', 'json')
    expect([failed.stdout, failed.code]).toEqual(['', 1])
    expect(failed.stderr).toContain('Oh noes!')
  })

  test('-g prints grains and -d documentation', async () => {
    expect(JSON.parse((await call('-g', '--out', 'json')).stdout).local).toMatchObject({ role: 'web' })
    expect((await call('-d', 'test.ping')).stdout).toContain('test.ping:')
  })
})

/** A command that is still running. */
function typed(program: string, ...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, [join(bin, program), '-c', cluster.configDir, ...args])
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  const ended = new Promise<{ stdout: string; stderr: string; code: number | null }>((done) =>
    child.once('close', (code) => done({ ...texts, code })),
  )
  return { child, texts, ended }
}
