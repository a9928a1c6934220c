/** Mistakes of an operator, and failures around: each is a sentence on standard error, and an exit code. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, jobsWithin, run } from '../harness/daemons.ts'
import { type Finished, type ProgramHere, runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({
    minions: ['web1'],
    minion: jobsWithin,
    master: { nodegroups: { front: 'L@web1' }, timeout: 3, gather_job_timeout: 2 },
  })
  const isKnown = async () => (await cluster.salt('*', 'test.pign')).code === 64
  await until('the master to know what minions offer', isKnown)
})
afterAll(() => cluster?.close())

/** `salt`, or another program that is named first. */
function typed(...words: string[]): Promise<Finished> {
  const [program = '', ...rest] = words
  if (program === 'salt-master') return cluster.spawned(program, ...rest)
  return program.startsWith('salt-')
    ? cluster.command(program as ProgramHere, ...rest)
    : cluster.salt(...words)
}

type Case = readonly [words: readonly string[], code: number, sentence: string]

/** Nothing is on standard output: that is for data. */
async function expectFailure([words, code, sentence]: Case): Promise<void> {
  const seen = await typed(...words)
  expect({ stdout: seen.stdout, code: seen.code }).toEqual({ stdout: '', code })
  expect(seen.stderr).toContain(sentence)
}

describe('a mistyped command', () => {
  test.each<Case>([
    [['wbe1', 'test.ping'], 2, "There is no minion 'wbe1'. Did you mean 'web1'?"],
    [['db*', 'test.ping'], 2, "No minion has an id that matches 'db*'."],
    [['-G', 'oss:Debian', 'test.ping'], 2, "No minion has the grain 'oss'. Did you mean 'os'?"],
    [['-G', 'kernel:Linus', 'test.ping'], 2, "none with a value that matches 'Linus'. They have: Linux."],
    [['-G', 'kernel', 'test.ping'], 64, "'kernel' has no value. Write key:value, as in os:Debian."],
    [
      ['-C', 'Q@kernel:Linux', 'test.ping'],
      2,
      "Unknown target type 'Q@', so this was taken for a minion id.",
    ],
    [['-C', 'web* and ( G@kernel:Linux', 'test.ping'], 64, "at character 10: this '(' is never closed."],
    [['-C', 'web* and', 'test.ping'], 64, "at character 9: a target is missing after 'and'."],
    [
      ['-E', 'web[', 'test.ping'],
      64,
      "The regular expression 'web[' is not valid: this '[' is never closed (at character 4)",
    ],
    [
      ['-N', 'frnt', 'test.ping'],
      64,
      "There is no nodegroup 'frnt' in the configuration. Did you mean 'front'?",
    ],
    [['-R', '%web', 'test.ping'], 64, 'A range target needs a range server'],
    [['*', 'test.pign'], 64, "'test.pign' is not available. Did you mean 'test.ping'?"],
    [['*', 'test.sleep', 'soon'], 64, `'length' must be a number, not "soon"`],
    [['*', 'test.ping', '--tiemout', '5'], 64, 'There is no option --tiemout; did you mean --timeout?'],
    [
      ['*', 'test.ping', '--out', 'jsno'],
      64,
      "There is no outputter 'jsno'. Did you mean 'json'? There are: ",
    ],
    [['*'], 64, "Name the function that '*' should run."],
    [
      ['salt-run', 'jobs.lokup_jid', '1'],
      64,
      "'jobs.lokup_jid' is not available. Did you mean 'jobs.lookup_jid'?",
    ],
    [['salt-run', 'test.sleep', 'x'], 64, `'s_time' must be a number, not "x"`],
    [['salt-run', 'test.sleep', 'a=1'], 64, 'The following keyword arguments are not valid: a=1'],
    [['salt-run', '--async', 'no.such'], 64, "'no.such' is not available."],
    [['salt-run', 'wheel', 'key.acept', 'web1'], 64, "Did you mean 'key.accept'?"],
    [['salt-key', '-y', '-a', 'nosuch'], 2, "'nosuch' does not match any unaccepted keys"],
  ])('%j', async (...failure) => expectFailure(failure))

  test('a wrong id in a list is named, and the others run', async () => {
    const { stdout, code } = await typed('-L', 'web1,wbe2', 'test.ping', '--out', 'json', '--static')
    const { web1, wbe2 } = JSON.parse(stdout)
    expect([web1, wbe2, code]).toEqual([true, expect.stringContaining('[No accepted key]'), 75])
  })

  test('an --out-file that cannot be written is reported before anything is sent', async () => {
    const nowhere = join(cluster.root, 'nosuch', 'out')
    await expectFailure([
      ['*', 'test.ping', '--out-file', nowhere],
      73,
      `Cannot write to ${nowhere} (--out-file): its`,
    ])
    await expectFailure([
      ['*', 'test.ping', '--out-file', cluster.root],
      73,
      'this is a folder; name a file in it',
    ])
    const full = await typed('*', 'test.ping', '--out-file', '/dev/full')
    expect(full).toMatchObject({ code: 73, stderr: expect.stringContaining('the disk is full') })
  })
})

describe('a configuration that cannot be used', () => {
  let file: string
  let good: string
  beforeAll(async () => {
    file = join(cluster.configDir, 'master')
    good = await readFile(file, 'utf8')
  })
  afterAll(() => writeFile(file, good))

  test.each([
    ['interface2: [127.0.0.1\nother: 1\n', "this '[' is never closed"],
    ['keep_jobs_seconds: soon\n', 'The option keep_jobs_seconds in '],
  ])('%j', async (line, sentence) => {
    await writeFile(file, `${good}${line}`)
    for (const program of ['salt-run', 'salt-key', 'salt-master'])
      await expectFailure([[program], 78, sentence])
    const { stdout, stderr, code } = await cluster.salt('*', 'test.ping')
    expect({ stdout, code }).toEqual({ stdout: '', code: 78 })
    expect(stderr).toContain(sentence)
    expect(stderr).toContain(file)
  })

  test('a misspelt option is reported once, and the command runs', async () => {
    await writeFile(file, `${good}tiemout: 5\n`)
    const { stderr, code } = await runHere('salt-run', ['-c', cluster.configDir, 'test.arg'])
    expect([stderr, code]).toEqual([
      `WARNING: Unknown option 'tiemout' in ${file}. Did you mean 'timeout'?\n`,
      0,
    ])
  })

  test('a folder that does not exist is named', async () => {
    const nowhere = join(cluster.root, 'nosuch')
    const { stderr, code } = await runHere('salt-run', ['-c', nowhere, '-d', 'test.arg'])
    expect([stderr, code]).toEqual([
      `WARNING: The configuration directory ${nowhere} does not exist; defaults are used.\n`,
      0,
    ])
  })

  test('of a minion', async () => {
    const folder = join(cluster.root, 'broken')
    await mkdir(folder)
    await writeFile(join(folder, 'minion'), 'master: [127.0.0.1\nid: x\n')
    const seen = await run('salt-minion', ['-c', folder])
    expect(seen).toMatchObject({ code: 78, stderr: expect.stringContaining(join(folder, 'minion')) })
  })
})

test('a minion whose key is denied, because its id is taken, is reported as denied and not as down', async () => {
  const before = cluster.minions.get('web1')!
  await before.stop()
  await rm(join(before.directory, 'pki'), { recursive: true })
  const minion = await cluster.startMinion('web1', jobsWithin) // with another key
  await minion.logged(
    "has rejected this minion's key, or denied it because another one is accepted for the id web1",
  )
  expect(minion.output).toContain('salt-key -a web1 --include-rejected --include-denied')
  const { stdout, code } = await cluster.salt('web1', 'test.ping')
  expect(stdout).toContain('Minion did not return. [No response]')
  expect(stdout).toContain('another key than the accepted one was denied')
  expect(code).toBe(75)
  await minion.stop()
})

describe('without a master', () => {
  beforeAll(async () => {
    const client = await cluster.client()
    await client.runJob({ tgt: '*', fun: 'test.ping' })
    await client.close()
    await cluster.master.stop()
  })
  const away = 'Is salt-master running with this configuration?'

  test.each<Case>([
    [['*', 'test.ping'], 69, away],
    [['salt-run', 'manage.up'], 69, away],
    [['salt-run', 'event.send', 'my/tag'], 69, away],
    [['salt-run', 'survey.hash', '*', 'test.ping'], 69, away],
    [['-N', 'frnt', 'test.ping'], 64, "Did you mean 'front'?"],
    [['-C', 'N@frnt or web1', 'test.ping'], 64, "Did you mean 'front'?"],
    [['-R', '%web', 'test.ping'], 64, 'needs a range server'],
  ])('%j', async (...failure) => expectFailure(failure))

  test.each([['jobs.list_jobs'], ['test.arg', '1'], ['saltutil.sync_runners'], ['key.list_all']])(
    'salt-run %s works without one',
    async (...words) => {
      expect(await cluster.command('salt-run', ...words)).toMatchObject({ stderr: '', code: 0 })
    },
  )

  test('a minion reports that it cannot reach it and the address, and keeps trying', async () => {
    const lonely = await cluster.startMinion('web3', {
      ...jobsWithin,
      auth_timeout: 1,
      auth_tries: 2,
    })
    const address = `The master 127.0.0.1:${cluster.ports.request}`
    await lonely.logged(`${address} does not answer (sign-in 1 of 2)`)
    await lonely.logged(`Signing in to the master 127.0.0.1:${cluster.ports.request} failed: `)
    expect(lonely.exitCode).toBeNull()
    const call = await runHere('salt-call', ['-c', lonely.directory, 'test.ping'])
    expect(call).toMatchObject({ code: 69, stderr: expect.stringContaining(`${address} cannot be reached`) })
    await lonely.stop()
  })
})
