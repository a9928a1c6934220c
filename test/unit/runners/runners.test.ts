import { describe, expect, test } from 'vitest'
import type {
  BatchStatus,
  Context,
  MasterServices,
  StoredJob,
  StoredReturn,
} from '../../../core/author/index.ts'
import { shownTime } from '../../../core/dialect/strftime.ts'
import { matchesQuery } from '../../../core/jobs/job-query.ts'
import { listen } from '../../../runners/_event/listen.ts'
import * as batch from '../../../runners/batch.ts'
import * as doctor from '../../../runners/doctor.ts'
import * as event from '../../../runners/event.ts'
import * as jobs from '../../../runners/jobs.ts'
import * as manage from '../../../runners/manage.ts'
import * as runnerTest from '../../../runners/test.ts'
import { captured } from '../../harness/terminal.ts'

const old: StoredJob = {
  jid: '20261120010203000004',
  load: { fun: 'cmd.run', arg: ['ls'], tgt: 'web*', tgt_type: 'glob', user: 'ann', metadata: { for: 'ops' } },
  minions: ['web01', 'web02'],
}
const ping: StoredJob = {
  jid: '20261121034212345678',
  load: { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'root' },
  minions: ['web01'],
}
const look: StoredJob = {
  jid: '20261121034213345678',
  load: { fun: 'saltutil.find_job', arg: [ping.jid] },
  minions: ['web01'],
}
const returned: StoredReturn = { id: 'web01', return: 'a\nb', retcode: 0, success: true }

const batches: BatchStatus[] = [
  {
    jid: '20261121034212345679',
    fun: 'test.ping',
    user: 'ann',
    phase: 'run',
    minions: { running: ['web01'] },
  },
  {
    jid: old.jid,
    fun: 'cmd.run',
    user: 'ann',
    phase: 'done',
    halted: 'Stopped.',
    minions: { done: ['web02'] },
  },
]

type Answer = StoredReturn & { missing?: string }

function master(answers: Answer[] = []): MasterServices {
  const stored = [look, ping, old]
  return {
    run: async function* () {
      yield* answers
    } as unknown as MasterServices['run'],
    fire: async () => true,
    events: async function* () {
      yield { tag: 'salt/auth', data: { id: 'a' } }
      yield { tag: 'salt/job/1/new', data: { big: 2n ** 64n } }
      yield { tag: 'salt/job/1/ret/a', data: {} }
    },
    jobs: {
      get: async (jid) => stored.find((job) => job.jid === jid),
      returns: async (jid) => (jid === old.jid ? [returned] : []),
      unreturned: async (jid) => {
        const id = jid === old.jid ? 'web02' : 'web01'
        return [{ id, jid, state: 'started', reason: 'Minion did not return so far.' }]
      },
      list: async function* (query = {}) {
        yield* stored.filter(({ jid, load }) => matchesQuery(jid, load, query)).slice(0, query.limit)
      },
      archive: {} as MasterServices['jobs']['archive'],
      waiting: async () => [{ ...old, until: '2026-11-20T03:02:03.000Z', minions: ['web02'] }],
      cancel: async (jid) => ({ cancelled: jid === old.jid ? ['web02'] : [], expired: [] }),
    },
    progress: async () => {},
    match: async () => ({ minions: ['web01'], unknown: [], missing: [] }),
    call: async (fun, args) => ({ fun, args }),
    running: async () => [],
    killRun: async () => false,
    cache: {} as MasterServices['cache'],
    mine: {} as MasterServices['mine'],
    keys: {} as MasterServices['keys'],
    tokens: {} as MasterServices['tokens'],
    access: {} as MasterServices['access'],
    audit: {} as MasterServices['audit'],
    writeConfig: async () => '',
    returners: {} as MasterServices['returners'],
    batches: {
      list: async function* () {
        yield* batches
      },
      get: async (jid) => batches.find((batch) => batch.jid === jid),
      stop: async (jid) => jid === batches[0]?.jid,
    },
    acceptedIds: async () => ['web02', 'web01', 'db01'],
    cachedGrains: async (id) => (id === 'web01' ? { ipv4: ['127.0.0.1', '10.0.0.1'] } : undefined),
    connectedIds: async () => ['web01', 'web02', 'stranger'],
    fileServer: {
      envs: async () => ({ roots: ['base', 'dev'] }),
      list: async () => ({ files: ['a/b'], dirs: ['a', 'c'], emptyDirs: ['c'], links: { l: 'a' } }),
      clearListCache: async (saltenv = ['base', 'dev']) => ({ roots: saltenv }),
    },
    sync: async () => ({}),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a runner gets the values its parameters describe and gives what it likes
type Loose = any

const call = (
  runner: { run(args: Loose, context: Context): unknown },
  args: object = {},
  answers: Answer[] = [],
): Loose => runner.run(args, { master: master(answers), signal: new AbortController().signal } as Context)

describe('batch', () => {
  test('list shows running batches, or all on request', async () => {
    const running = { Function: 'test.ping', User: 'ann', Phase: 'run', Minions: { running: 1 } }
    const [first, second] = batches.map(({ jid }) => jid)
    expect(await call(batch.list, { all: false })).toEqual({ [first!]: running })
    const all = await call(batch.list, { all: true })
    expect(Object.keys(all)).toEqual([first, second])
    expect(all[second!]).toMatchObject({ Phase: 'done', Stopped: 'Stopped.', Minions: { done: 1 } })
  })

  test('status lists the minions, and stop returns whether there was a batch to stop', async () => {
    const [running, done] = batches
    expect(await call(batch.status, { jid: running?.jid })).toMatchObject({ Minions: { running: ['web01'] } })
    expect(await call(batch.stop, { jid: running?.jid })).toBe(true)
    await expect(call(batch.stop, { jid: done?.jid })).rejects.toThrow('is done already')
    await expect(call(batch.status, { jid: '1' })).rejects.toThrow('There is no batch 1 on this master.')
  })
})

describe('jobs', () => {
  test('list_jobs shows stored jobs, newest first, and filters them', async () => {
    expect(Object.keys(await call(jobs.list_jobs))).toEqual([look.jid, ping.jid, old.jid])
    const found = await call(jobs.list_jobs, {
      search_function: ['cmd.*'],
      search_target: 'web*',
      search_metadata: { for: 'ops' },
    })
    expect(found).toEqual({
      [old.jid]: {
        Arguments: ['ls'],
        Function: 'cmd.run',
        StartTime: '2026, Nov 20 01:02:03.000004',
        Target: 'web*',
        'Target-type': 'glob',
        User: 'ann',
        Metadata: { for: 'ops' },
      },
    })
    expect(
      Object.keys(await call(jobs.list_jobs, { start_time: '2026-11-21', end_time: '2026-11-21 03:42:13' })),
    ).toEqual([ping.jid])
    expect(Object.keys(await call(jobs.list_jobs, { search_user: 'a*' }))).toEqual([old.jid])
    expect(Object.keys(await call(jobs.list_jobs, { before: look.jid, after: old.jid }))).toEqual([ping.jid])
    for (const start_time of ['2026, Nov 21 00:00', '2026, Nov 21 00:00:00.000001', '20261121'])
      expect(Object.keys(await call(jobs.list_jobs, { start_time }))).toEqual([look.jid, ping.jid])
    expect(Object.keys(await call(jobs.list_jobs, { search_user: 'nobody, a*' }))).toEqual([old.jid])
    await expect(call(jobs.list_jobs, { before: 'now' })).rejects.toThrow('before=now is not a job id')
    await expect(call(jobs.list_jobs, { start_time: 'soon' })).rejects.toThrow("'soon' is not a date")
  })

  test('list_jobs says how to list more if there are more', async () => {
    const told: unknown[] = []
    const services = { ...master(), progress: async (data: unknown) => void told.push(data) }
    const list = (limit: number) =>
      jobs.list_jobs.run({ limit } as Loose, { master: services } as unknown as Context) as Loose
    expect(Object.keys(await list(2))).toEqual([look.jid, ping.jid])
    expect(told).toEqual([
      {
        message: `Only the newest 2 jobs are listed. For the next ones use before=${ping.jid}, for all limit=0.`,
      },
    ])
    for (const limit of [0, 3]) expect(Object.keys(await list(limit))).toHaveLength(3)
    expect(told).toHaveLength(1)
  })

  test('list_jobs_filter leaves out find_job jobs', async () => {
    const rows = await call(jobs.list_jobs_filter, { count: 1, filter_find_job: true })
    expect(rows).toMatchObject([{ JID: ping.jid, Function: 'test.ping' }])
    const two = await call(jobs.list_jobs_filter, { count: 2, filter_find_job: true })
    expect(two.map(({ JID }: { JID: string }) => JID)).toEqual([old.jid, ping.jid])
  })

  test('lookup_jid returns the returns and, on request, the states of silent minions', async () => {
    expect(await call(jobs.lookup_jid, { jid: old.jid, returned: true, missing: false })).toEqual({
      web01: 'a\nb',
    })
    expect(await call(jobs.lookup_jid, { jid: old.jid, returned: false, missing: true })).toEqual({
      web02: 'Minion did not return so far.',
    })
    await expect(call(jobs.lookup_jid, { jid: '1' })).rejects.toThrow("'1' is not a job id (20 digits).")
  })

  test('waiting lists waiting jobs with their minions and time limits', async () => {
    expect(await call(jobs.waiting)).toMatchObject({
      [old.jid]: {
        Function: 'cmd.run',
        DeliverUntil: shownTime(Date.UTC(2026, 10, 20, 3, 2, 3)),
        Waiting: ['web02'],
      },
    })
  })

  test('cancel returns the minions for which the job is cancelled, including those that had queued it', async () => {
    expect(await call(jobs.cancel, { jid: old.jid })).toEqual({ Cancelled: ['web02'] })
    const answer = (jids: string[]) => [{ id: 'web01', return: jids }]
    expect(await call(jobs.cancel, { jid: ping.jid, minions: 'web01' }, answer([ping.jid]))).toEqual({
      Cancelled: ['web01'],
    })
    expect(await call(jobs.cancel, { jid: ping.jid }, answer([]))).toEqual({
      Cancelled: [],
      'Not cancelled': { web01: `It runs there. To end it: salt web01 saltutil.kill_job ${ping.jid}` },
      retcode: 1,
    })
    await expect(call(jobs.cancel, { jid: old.jid, minions: ' ' })).rejects.toThrow(
      "'minions' names no minion",
    )
    await expect(call(jobs.cancel, { jid: old.jid, minions: ['db01'] })).rejects.toThrow(
      `Job ${old.jid} was not sent to db01. Nothing was cancelled.`,
    )
  })

  test('lookup_jid uses the outputter of the job, the others the given one', async () => {
    const nested = { ...returned, out: 'txt' }
    const services = { ...master(), jobs: { ...master().jobs, returns: async () => [nested] } }
    const found = await jobs.lookup_jid.run(
      { jid: old.jid, returned: true, missing: false } as Loose,
      { master: services } as unknown as Context,
    )
    expect(found).toEqual({ data: { web01: 'a\nb' }, outputter: 'txt' })
    for (const [runner, args] of [
      [jobs.list_jobs, {}],
      [jobs.list_jobs_filter, { count: 1 }],
      [jobs.last_run, {}],
    ] as const) {
      expect(await call(runner, { ...args, outputter: 'json' })).toEqual({
        data: expect.any(Object),
        outputter: 'json',
      })
    }
  })

  test('print_job and last_run show all of a job', async () => {
    const whole = await call(jobs.print_job, { jid: old.jid })
    expect(whole[old.jid].Result).toEqual({ web01: { return: 'a\nb', retcode: 0, success: true } })
    expect(whole[old.jid].Minions).toEqual(['web01', 'web02'])
    expect(await call(jobs.last_run, { function: 'cmd.run' })).toEqual(whole)
    expect(await call(jobs.last_run, { function: 'no.such' })).toEqual({})
  })

  test('exit_success is false for minions without a return', async () => {
    expect(await call(jobs.exit_success, { jid: old.jid })).toEqual({ web01: true, web02: false })
  })

  test('active gathers running jobs from all minions', async () => {
    const running = { jid: old.jid, fun: 'cmd.run', pid: 7 }
    const own = { jid: '2', fun: 'saltutil.running', pid: 8 }
    const answers = [
      { id: 'web01', return: [running, own] },
      { id: 'web02', return: [{ ...running, pid: 9 }] },
      { id: 'db01', return: undefined, missing: 'x' },
    ]
    const active = await call(jobs.active, {}, answers)
    expect(Object.keys(active)).toEqual([old.jid])
    expect(active[old.jid]).toMatchObject({
      Running: [{ web01: 7 }, { web02: 9 }],
      Returned: ['web01'],
      User: 'ann',
    })
  })
})

test('jobs.master lists runs in the background, active reports the minions that have answered', async () => {
  const running = [{ jid: old.jid, fun: 'runner.test.sleep', fun_args: [9], user: 'ann', pid: 7 }]
  const told: unknown[] = []
  const services: MasterServices = {
    ...master([{ id: 'web01', return: [] }]),
    running: async () => running,
    progress: async (data) => void told.push(data),
  }
  expect(await jobs.master.run({}, { master: services } as Context)).toEqual(running)
  await jobs.active.run({ display_progress: true }, { master: services } as Context)
  expect(told).toEqual([{ message: 'Received reply from minion web01' }])
})

describe('manage', () => {
  const answers = [
    { id: 'web02', return: true },
    { id: 'web01', return: true },
    { id: 'db01', return: undefined, missing: 'no' },
  ]

  test('status, up and down list minions by their answers', async () => {
    expect(await call(manage.status, {}, answers)).toEqual({ up: ['web01', 'web02'], down: ['db01'] })
    expect(await call(manage.up, {}, answers)).toEqual(['web01', 'web02'])
    expect(await call(manage.down, {}, answers)).toEqual(['db01'])
  })

  test('present lists connected and accepted minions, without asking them', async () => {
    expect(await call(manage.present)).toEqual(['web01', 'web02'])
    expect(await call(manage.not_present)).toEqual(['db01'])
    expect(await call(manage.present, { subset: ['web02', 'db01'] })).toEqual(['web02'])
  })

  test('present accepts ids as a list or with commas, and shows an address of each from its grains', async () => {
    expect(await call(manage.present, { subset: 'web02, db01' })).toEqual(['web02'])
    expect(await call(manage.present, { show_ip: true })).toEqual({ web01: '10.0.0.1', web02: null })
  })

  test('down removes the keys of minions that do not answer, on request', async () => {
    const removed: unknown[] = []
    const keys = { deleteDict: async (lists: unknown) => removed.push(lists) }
    const services = { ...master(answers), keys } as unknown as MasterServices
    const down = (removekeys: boolean) =>
      manage.down.run({ removekeys } as Loose, { master: services } as Context)
    expect([await down(false), removed]).toEqual([['db01'], []])
    expect([await down(true), removed]).toEqual([['db01'], [{ minions: ['db01'] }]])
  })

  test('versions are compared with the master', async () => {
    const versions = await call(manage.versions, {}, [
      { id: 'a', return: '0.0.1' },
      { id: 'b', return: '3006.9' },
      { id: 'c', return: undefined, missing: 'no' },
    ])
    expect(versions).toMatchObject({
      'Minion requires update': { a: '0.0.1' },
      'Minion newer than master': { b: '3006.9' },
      'Minion offline': ['c'],
    })
  })
})

describe('event', () => {
  test('listen prints matching events, tag and JSON a line, and stops after count', async () => {
    const shown: string[] = []
    const given = { tagmatch: 'salt/job/*', count: 1, quiet: false, pretty: false }
    await listen(given as Loose, { master: master() } as Context, (line) => shown.push(line))
    expect(shown.join('')).toBe('salt/job/1/new\t{"big": 18446744073709551616}\n')
  })

  test('a pattern is a shell pattern or a regular expression, and only events that may fit are listened to', async () => {
    const tags = ['salt/job/1/ret/a', 'salt/job/12/ret/ab', 'salt/run/1/ret', 'other']
    const asked: string[] = []
    const seenWith = async (tagmatch: string) => {
      async function* events(prefix: string) {
        asked.push(prefix)
        for (const tag of tags) if (tag.startsWith(prefix)) yield { tag, data: {} }
      }
      const services = { ...master(), events }
      const given = {
        tagmatch,
        count: -1,
        quiet: false,
        sock_dir: undefined,
        pretty: false,
        node: 'master' as const,
      }
      const shown: string[] = []
      await listen(given, { master: services } as unknown as Context, (line) => shown.push(line))
      return shown
        .join('')
        .split('\n')
        .map((line) => line.split('\t')[0])
        .filter((tag) => tag !== '')
    }
    expect(await seenWith('salt/job/*/a')).toEqual(['salt/job/1/ret/a'])
    expect(await seenWith('salt/job/\\d+/ret/ab?')).toEqual(tags.slice(0, 2))
    expect(await seenWith('salt/(job|run)/1/.*')).toEqual([tags[0], tags[2]])
    expect(await seenWith('other')).toEqual(['other'])
    expect(await seenWith('o*ther')).toEqual(['other'])
    expect(await seenWith('job')).toEqual([])
    expect(asked).toEqual(['salt/job', 'salt/job/', '', 'other', '', 'job'])
  })

  test('send passes on data and further keywords', async () => {
    expect(await call(event.send, { tag: 'my/tag', data: { a: 1 }, more: { b: 2 } })).toBe(true)
  })
})

describe('test', () => {
  test('arg and raw_arg return their arguments', async () => {
    const given = { args: [1, 'two'], kwargs: { a: 3 } }
    expect(await call(runnerTest.arg, given)).toEqual(given)
    expect(await call(runnerTest.raw_arg, given)).toEqual(given)
  })

  test('metasyntactic supports two locales', async () => {
    expect(await call(runnerTest.metasyntactic, { locality: 'us' })).toContain('foo')
    expect(await call(runnerTest.metasyntactic, { locality: 'uk' })).toContain('wibble')
    expect(await call(runnerTest.metasyntactic, { locality: 'fr' })).toBeNull()
  })

  test('stdout_print prints and returns', async () => {
    const { result, stdout } = await captured(() => call(runnerTest.stdout_print))
    expect([result, stdout]).toEqual(['bar', 'foo\n'])
  })

  test('sleep takes its time, and ends when it is aborted', async () => {
    expect(await call(runnerTest.sleep, { s_time: 0.01 })).toBe(true)
    const signal = AbortSignal.abort()
    await expect(runnerTest.sleep.run({ s_time: 60 }, { signal } as Context)).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  test('stream reports progress until it is aborted', async () => {
    const stop = new AbortController()
    const told: unknown[] = []
    const progress = async (data: unknown) => {
      stop.abort()
      told.push(data)
    }
    const context = { master: { ...master(), progress }, signal: stop.signal } as unknown as Context
    await expect(runnerTest.stream.run({}, context)).rejects.toMatchObject({ name: 'AbortError' })
    expect(told).toEqual([{ message: 'Runner is 1% done' }])
  })

  test('get_opts masks values whose names suggest a secret', async () => {
    const opts = { interface: '0.0.0.0', 'auth.ldap.bindpw': 's3cret', rotate_aes_key: true }
    const all = { ...opts, mysql_auth: { password: 's3cret' } }
    expect(await runnerTest.get_opts.run({}, { opts: all } as unknown as Context)).toEqual({
      ...opts,
      'auth.ldap.bindpw': '**********',
      mysql_auth: { password: '**********' },
    })
  })
})

describe('doctor', () => {
  const answer = (id: string, value: unknown): Answer => ({ id, return: value })

  test('module groups minions that have a function from the same file, or lack it for the same reason', async () => {
    const has = {
      name: 'pkg.install',
      provided_by: '/m/apt.ts',
      files: { '/m/apt.ts': 'provides it' },
      warnings: ["/m/apt.ts:3: There is no function 'cmd.runn'"],
    }
    const lacks = {
      name: 'pkg.install',
      provided_by: null,
      files: { '/m/apt.ts': 'is not offered: needs apt' },
    }
    const nowhere = { name: 'pkg.install', provided_by: null, files: {}, advice: 'No file is called so' }
    const answers = [
      answer('b', has),
      answer('a', has),
      answer('c', lacks),
      answer('d', nowhere),
      answer('p', "'sys.why' is not available."),
      { id: 'e', return: undefined, missing: 'not connected' },
    ]
    const args = { name: 'pkg.install', kind: 'modules', tgt: '*', tgt_type: 'glob', timeout: undefined }
    expect(await call(doctor.module, args, answers)).toEqual({
      name: 'pkg.install',
      provided_by: { '/m/apt.ts': ['a', 'b'] },
      not_available: {
        '/m/apt.ts is not offered: needs apt': ['c'],
        'No file is called so': ['d'],
        "cannot say: 'sys.why' is not available.": ['p'],
      },
      warnings: { "/m/apt.ts:3: There is no function 'cmd.runn'": ['a', 'b'] },
      no_answer: { e: 'not connected' },
    })
  })
})
