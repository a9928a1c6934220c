/** Authentication and access rules, by the programs, with a real master and a minion. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunnerClient } from '../../core/client/index.ts'
import { Cluster, jobsWithin } from '../harness/daemons.ts'
import { quietLog } from '../harness/log.ts'
import type { Finished } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

const PASSWORD = 'c4n4ry-password'
let cluster: Cluster
let runners: RunnerClient

beforeAll(async () => {
  const users = Object.fromEntries(
    ['fred', 'ann', 'bob'].map((name) => [name, { password: PASSWORD, groups: [] }]),
  )
  cluster = await Cluster.open({
    minions: ['web1', 'db1'],
    minion: jobsWithin,
    master: {
      auth_dirs: [fileURLToPath(new URL('../fixtures/auth', import.meta.url))],
      token_file: '/nowhere/token',
      external_auth: {
        listed: {
          '^users': users,
          fred: ['test.*', { 'web*': [{ 'cmd.run': { args: ['echo .*'] } }] }, { '@runner': ['test.arg'] }],
          ann: ['.*', '@wheel'],
        },
      },
    },
  })
  runners = new RunnerClient({ config: cluster.config, log: quietLog, user: 'root' })
})
afterAll(async () => {
  await runners?.close()
  await cluster?.close()
})

const as = (name: string) => ['--eauth', 'listed', '--username', name, '--password', PASSWORD]
const salt = (name: string, ...words: string[]): Promise<Finished> =>
  cluster.salt(...as(name), '--out', 'json', '--static', ...words)

describe('salt -a', () => {
  test('runs what a rule allows, in the name of the user', async () => {
    const { code, stdout } = await salt('fred', '*', 'test.ping')
    expect([code, JSON.parse(stdout)]).toEqual([0, { db1: true, web1: true }])
    const jobs = await runners.run('jobs.list_jobs', [], { search_function: 'test.ping' })
    expect(Object.values(jobs.return as object)).toMatchObject([{ User: 'fred' }])
  })

  test('waits for minions that work long, by asking them whether they do', async () => {
    const { code, stdout } = await salt('fred', '-t', '1', 'web1', 'test.sleep', '3')
    expect([code, JSON.parse(stdout)]).toEqual([0, { web1: true }])
  })

  test('runs in batches, by itself and by the master', async () => {
    const here = await cluster.salt(...as('fred'), '-b', '1', '*', 'test.ping', '--out', 'txt')
    expect([here.code, here.stdout.match(/: True/g)?.length]).toEqual([0, 2])
    const { code, stdout } = await cluster.salt(...as('fred'), '-b', '1', '--async', '*', 'test.ping')
    const [jid] = /\d{20}/.exec(stdout) ?? []
    expect(code).toBe(0)
    const status = await until('the end of the batch', async () => {
      const shown = JSON.stringify((await runners.run('batch.status', [jid], {})).return)
      return shown.includes('"done"') && shown
    })
    expect(status).toContain('fred')
    const refused = await cluster.salt(...as('fred'), '-b', '1', '--async', '*', 'cmd.run', 'echo x')
    expect([refused.code, refused.stdout]).toEqual([77, ''])
  })

  test('ends with 77 and the reason where no rule allows it', async () => {
    expect(await salt('fred', 'web1', 'cmd.run', 'echo hi')).toMatchObject({ code: 0 })
    const elsewhere = await salt('fred', '*', 'cmd.run', 'echo hi')
    expect([elsewhere.code, elsewhere.stdout]).toEqual([77, ''])
    expect(elsewhere.stderr).toContain(
      "fred may not run cmd.run: external_auth.listed.fred[1]['web*'][0]: 'cmd.run' is not for all of db1, web1.",
    )
    const plan = await salt('fred', '--plan', 'web1', 'cmd.run', 'id')
    expect([plan.code, plan.stderr]).toEqual([
      77,
      expect.stringContaining('allows it with other arguments only'),
    ])
  })

  test('ends with 77 if the password is wrong, or the user unknown', async () => {
    const wrong = await cluster.salt(
      '--eauth',
      'listed',
      '--username',
      'fred',
      '--password',
      'x',
      '*',
      'test.ping',
    )
    expect([wrong.code, wrong.stderr]).toEqual([
      77,
      expect.stringContaining('The password of fred is wrong, or'),
    ])
    const away = await cluster.salt(
      '--eauth',
      'listed',
      '--username',
      'down',
      '--password',
      'x',
      '*',
      'test.ping',
    )
    expect([away.code, away.stderr]).toEqual([69, expect.stringContaining('Try again later')])
  })
})

test('salt-run and salt-key have the master run what the rules allow', async () => {
  const run = (name: string, ...words: string[]) =>
    cluster.command('salt-run', ...as(name), '--out', 'json', ...words)
  const done = await run('fred', 'test.arg', 'x', 'b=1')
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { args: ['x'], kwargs: { b: 1 } }])
  const denied = await run('fred', 'manage.up')
  expect([denied.code, denied.stderr]).toEqual([
    77,
    expect.stringContaining(
      'fred may not run the runner manage.up: no rule of external_auth.listed allows it.',
    ),
  ])
  const keys = await cluster.command('salt-key', ...as('ann'), '-L', '--out', 'json')
  expect([keys.code, keys.stdout]).toEqual([0, expect.stringContaining('web1')])
  const noKeys = await cluster.command('salt-key', ...as('fred'), '-L')
  expect(noKeys.code).toBe(77)
})

test('acl.test prints on the command line what the master would decide', async () => {
  const shown = async (...words: string[]) =>
    JSON.parse((await cluster.command('salt-run', 'acl.test', ...words, '--out', 'json')).stdout)
  expect(await shown('fred', 'web1', 'cmd.run', 'echo hi', 'eauth=listed')).toEqual({
    allowed: true,
    rule: "external_auth.listed.fred[1]['web*'][0]: 'cmd.run'",
    minions: ['web1'],
  })
  expect(await shown('fred', '*', 'cmd.run', 'echo hi', 'eauth=listed')).toMatchObject({ allowed: false })
})

test('no password or token is on the disks of the master or a minion', async () => {
  const made = await cluster.command(
    'salt-run',
    'auth.mk_token',
    'eauth=listed',
    'username=fred',
    `password=${PASSWORD}`,
    '--out',
    'json',
  )
  const { token } = JSON.parse(made.stdout)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  const files = await readdir(cluster.root, { recursive: true, withFileTypes: true })
  for (const file of files.filter((each) => each.isFile() && !/^master$|\.conf$/.test(each.name))) {
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0)) // gone meanwhile
    expect([file.name, bytes.includes(token), bytes.includes(PASSWORD)]).toEqual([file.name, false, false])
  }
  expect((await runners.run('auth.del_token', [token], {})).return).toBe(true)
})
