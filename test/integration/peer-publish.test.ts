/** Minions that publish jobs and use runners, within `peer` and `peer_run`: by the module `publish`, and by hand. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listAudit } from '../../core/auth/audit/index.ts'
import type { Sender } from '../../core/channel/request-server.ts'
import { encryptedHandlers } from '../../core/master/handlers/index.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'

let cluster: InProcessCluster
let handlers: ReturnType<typeof encryptedHandlers>
beforeAll(async () => {
  const peer = {
    web1: ['test\\..*', { 'db*': ['cmd.run', { 'test.arg': { args: ['one'] } }] }],
    'web\\d': ['grains.item'],
    'evil.*': [],
  }
  const peer_run = { web1: ['test\\.(arg|sleep|stdout_print)', 'error.error'] }
  const nodegroups = { dbs: 'L@db1,db2' }
  cluster = await InProcessCluster.open({
    minions: ['web1', 'web10', 'db1'],
    transport: 'memory',
    master: { peer, peer_run, nodegroups },
  })
  handlers = encryptedHandlers(cluster.master.context)
})
afterAll(() => cluster.close())

let asked: number
beforeEach(async () => {
  asked = (await audited()).length
})

const audited = () => listAudit(cluster.master.config.audit_log, { limit: 10_000 })
/** What the audit log has of minions since the test began. */
const noted = async () =>
  (await audited()).slice(asked).filter(({ act }) => act === 'peer' || act === 'peer_run')

const call = async (id: string, fun: string, ...arg: unknown[]) => (await cluster.run(id, fun, arg))[id]

const sender = (id: string | undefined, verified = true): Sender => ({
  id,
  verified,
  version: verified ? 3 : 2,
  algorithms: { encryption: 'OAEP-SHA224', signing: 'PKCS1v15-SHA224' },
  fingerprint: randomBytes(32),
})

async function ask(cmd: string, load: object, from = sender('web1')): Promise<unknown> {
  return handlers.get(cmd)?.({ cmd, id: from.id, ...load }, from)
}

const pub = { fun: 'test.ping', arg: [], tgt: 'db1', tgt_type: 'glob', ret: '', tmo: 5, form: 'clean' }

describe('the module publish', () => {
  test('returns what the minions return, and the audit log has the rule', async () => {
    expect(await call('web1', 'publish.publish', '*', 'test.ping')).toEqual({
      web1: true,
      web10: true,
      db1: true,
    })
    expect(await noted()).toMatchObject([
      {
        act: 'peer',
        verdict: 'allowed',
        user: 'web1',
        by: 'minion',
        from: 'web1',
        fun: 'test.ping',
        tgt: '*',
        jid: expect.stringMatching(/^\d{20}$/),
        rule: expect.stringContaining('peer.web1[0]'),
      },
    ])
  })

  test('passes arguments on as Salt does: a single one, or a list with keywords among them', async () => {
    expect(await call('web1', 'publish.publish', 'db1', 'test.arg', 'one')).toMatchObject({
      db1: { args: ['one'], kwargs: { __pub_id: 'web1' } },
    })
    expect(await call('web1', 'publish.publish', 'db1', 'test.kwarg', ['cheese=spam', 'n=1'])).toMatchObject({
      db1: { cheese: 'spam', n: 1 },
    })
  })

  test('full_data returns the values as maps with ret', async () => {
    expect(await call('web1', 'publish.full_data', 'db1', 'test.ping')).toEqual({ db1: { ret: true } })
  })

  test('targets nodegroups, and returns an empty map if no minion matches', async () => {
    const returned = await cluster.run('web1', 'publish.publish', ['dbs', 'test.ping', null, 'nodegroup'])
    expect(returned.web1).toEqual({ db1: true })
    expect(await call('web1', 'publish.publish', 'nobody*', 'test.ping')).toEqual({})
  })

  test('that is allowed on certain minions is sent to no others, whatever their own grains are', async () => {
    expect(await call('web1', 'publish.publish', 'G@id:db1', 'cmd.run', 'echo one', 'compound')).toEqual({
      db1: 'one',
    })
    const { tgt, tgt_type } = cluster.master.published.at(-1)?.job ?? {}
    expect([tgt, tgt_type]).toEqual([['(', 'G@id:db1', ')', 'and', 'L@db1'], 'compound'])
  })

  test('several functions have their arguments as words', async () => {
    const returned = await call('web1', 'publish.publish', 'db1', 'test.ping,test.arg', ['', 'one two'])
    expect(returned).toMatchObject({ db1: { 'test.ping': true, 'test.arg': { args: ['one', 'two'] } } })
  })

  test('reports what the master does not allow, and so does the audit log', async () => {
    const returned = await call('web1', 'publish.publish', 'web10', 'cmd.run', 'id')
    expect(returned).toContain('The master did not publish cmd.run. web1 may not run cmd.run: ')
    expect(await noted()).toMatchObject([
      { verdict: 'refused', user: 'web1', fun: 'cmd.run', reason: expect.stringContaining('web1 may not') },
    ])
  })

  test('names returners as rules of peer grant them', async () => {
    const publish = (ret: string) => call('web1', 'publish.publish', 'db1', 'test.ping', null, 'glob', ret)
    expect(await publish('rawfile_json')).toContain('web1 may not use the returner rawfile_json')
    expect(await noted()).toMatchObject([{ verdict: 'refused', user: 'web1', ret: 'rawfile_json' }])
  })

  test.each([
    ['a function without a rule', 'web1', 'db1', 'grains.get', 'os'],
    ['arguments that no rule allows', 'web10', 'db1', 'test.arg', 'two'],
    ['a minion whose id only begins like one in a rule', 'web10', 'db1', 'grains.item', 'os'],
    ['one of several functions that is not allowed', 'web1', 'db1', 'test.ping,grains.get', ['', 'os']],
    ['a pattern over pillar', 'web1', 'I@password:a*', 'test.ping', null, 'compound'],
    ['a pattern over pillar alone', 'web1', 'password:a*', 'test.ping', null, 'pillar'],
    ['a regular expression over pillar', 'web1', 'password:a.', 'test.ping', null, 'pillar_pcre'],
    [
      'a regular expression over pillar in a compound target',
      'web1',
      'db1 or J@password:a',
      'test.ping',
      null,
      'compound',
    ],
  ])('is refused for %s', async (_, id, tgt, fun, arg, type = 'glob') => {
    const jobs = cluster.master.published.length
    const returned = await call(id, 'publish.publish', tgt, fun, arg, type)
    expect(returned).toMatch(/^(ERROR: )?.*The master did not publish/)
    expect(cluster.master.published.length).toBe(jobs + 1) // the one that was refused its wish
  })

  test('may not publish functions that publish further jobs', async () => {
    for (const fun of ['publish.publish', 'test.ping,publish.full_data'])
      expect(await call('web1', 'publish.publish', 'db1', fun, 'x')).toEqual({})
    expect(await ask('minion_pub', { ...pub, fun: 'test.ping,publish.runner', explain: true })).toEqual({
      refused: { reason: 'A function published by a minion may not publish further jobs (publish.runner).' },
    })
  })

  test('a job carries the id of the minion that published it', async () => {
    const reply = (await ask('minion_pub', { ...pub, tgt: 'web1', fun: 'test.arg', arg: ['one'] })) as {
      jid: string
    }
    const job = cluster.master.published.find(({ job }) => job.jid === reply.jid)?.job
    expect(job).toMatchObject({ id: 'web1', user: 'web1', fun: 'test.arg' })
  })
})

describe('runners', () => {
  test('return their results', async () => {
    expect(await call('web1', 'publish.runner', 'test.arg', ['one', 'two=2'])).toEqual({
      args: ['one'],
      kwargs: { two: 2 },
    })
    expect(await noted()).toMatchObject([
      { act: 'peer_run', verdict: 'allowed', fun: 'test.arg', args: ['one', { two: 2 }] },
    ])
  })

  test('get values of keywords that were quoted as well', async () => {
    const load = { fun: 'test.arg', arg: ["'k=1'", 'n=2'], explain: true }
    expect(await ask('minion_runner', load)).toEqual({ args: [], kwargs: { k: 1, n: 2 } })
  })

  test('that fail report the reason', async () => {
    const given = ['name=CommandExecutionError', 'message=It was meant to fail.']
    expect(await call('web1', 'publish.runner', 'error.error', given)).toBe('It was meant to fail.')
  })

  test('that no rule allows are refused, also by the beginning of a name', async () => {
    for (const [id, fun] of [
      ['web1', 'test.argument'],
      ['web1', 'jobs.active'],
      ['web10', 'test.arg'],
    ] as const)
      expect(await call(id, 'publish.runner', fun)).toContain(
        `The master did not run the runner ${fun}. ${id} may not`,
      )
    expect(await noted()).toMatchObject(Array(3).fill({ act: 'peer_run', verdict: 'refused' }))
    expect(await ask('minion_runner', { fun: 'jobs.active', arg: [] })).toEqual({})
  })
})

describe('by hand', () => {
  test('Python minions get an empty map for a refused job, and jid 0 if no minion matches', async () => {
    expect(await ask('minion_pub', { ...pub, fun: 'cmd.run', tgt: 'web1' })).toEqual({})
    expect(await ask('minion_pub', { ...pub, tgt: 'nobody' })).toEqual({ jid: 0, minions: [] })
  })

  test.each([
    ['a sender that is not verified', sender('web1', false)],
    ['a sender without an id', sender(undefined)],
    ['a sender whose id is a path', sender('../web1')],
  ])('%s is refused every request', async (_, from) => {
    for (const cmd of ['minion_pub', 'minion_publish', 'minion_runner', 'pub_ret'])
      expect(await ask(cmd, { ...pub, jid: '20261121101112131415' }, from)).toEqual({})
  })

  test('the id in the load is ignored', async () => {
    expect(await ask('minion_pub', { ...pub, id: 'web1', fun: 'test.ping' }, sender('db1'))).toEqual({})
    expect(await noted()).toMatchObject([{ verdict: 'refused', user: 'db1' }])
  })

  test('a request that is sent twice publishes once', async () => {
    const from = sender('web1')
    expect(await ask('minion_pub', pub, from)).toMatchObject({ minions: ['db1'] })
    expect(await ask('minion_pub', pub, from)).toEqual({})
  })

  test.each([
    { fun: 5 },
    { fun: '' },
    { fun: 'x'.repeat(300) },
    { fun: ['test.ping'] },
    { arg: 'text' },
    { tgt: null },
    { tgt_type: {} },
    { tgt_type: 'nodegroup', tgt: 'nowhere' },
    { tgt_type: 'compound', tgt: '( and' },
    { ret: {} },
  ])('a request with %j is refused', async (wrong) => {
    const jobs = cluster.master.published.length
    expect(await ask('minion_pub', { ...pub, ...wrong })).toEqual({})
    expect(cluster.master.published.length).toBe(jobs)
  })

  test('only the minion that published the job gets its returns; others do not learn that the job exists', async () => {
    const { jid } = (await ask('minion_pub', { ...pub, tgt: '*' })) as { jid: string }
    await Promise.all(['web1', 'web10', 'db1'].map((id) => cluster.returned(jid, id)))
    expect(await ask('pub_ret', { jid })).toEqual({
      web1: { ret: true },
      web10: { ret: true },
      db1: { ret: true },
    })
    expect(await ask('pub_ret', { jid }, sender('web10'))).toEqual({})
    expect(await noted()).toMatchObject([{ verdict: 'allowed' }, { verdict: 'refused', user: 'web10', jid }])
    const own = await cluster.run('db1', 'test.ping')
    expect(own).toEqual({ db1: true })
    const [newest] = cluster.master.context.jobs.list({ limit: 1 })
    expect(await ask('pub_ret', { jid: newest?.jid })).toEqual({})
  })

  test('a jid that is a path, even of a pipe without a writer, is refused (CVE-2025-22242)', async () => {
    const folder = join(cluster.master.config.cachedir, 'publish_auth')
    await mkdir(folder, { recursive: true })
    execFileSync('mkfifo', [join(folder, 'fifo')])
    const jids = [
      '../publish_auth/fifo',
      'fifo',
      join(folder, 'fifo'),
      '',
      0,
      null,
      {},
      ['fifo'],
      '20261121101112131415',
    ]
    for (const jid of jids) expect(await ask('pub_ret', { jid })).toEqual({})
  })

  test('minion_publish waits for the returns', async () => {
    expect(await ask('minion_publish', pub)).toEqual({ db1: true })
    const { __jid__: jid, ...returns } = (await ask('minion_publish', { ...pub, form: 'full' })) as {
      __jid__: string
    }
    expect(jid).toMatch(/^\d{20}$/)
    expect(returns).toMatchObject({ db1: { id: 'db1', ret: true, fun: 'test.ping' } })
  })

  test('requests that wait long do not block others, and more than the limit of them do not wait', async () => {
    const go = join(cluster.master.config.cachedir, 'go')
    const slow = { ...pub, fun: 'cmd.run', arg: [`until [ -e ${go} ]; do sleep 0.5; done`], timeout: 1e12 }
    const waits = Array.from({ length: 70 }, () => ask('minion_publish', slow))
    expect(await ask('minion_publish', { ...pub, timeout: 'soon' })).toEqual({})
    expect(await ask('pub_ret', { jid: 'none' })).toEqual({})
    await Promise.race(waits) // one of those that may not wait
    await writeFile(go, '')
    await Promise.all(waits)
  })
})
