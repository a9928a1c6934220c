import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile, rename, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AuditEntry, AuditLog, listAudit, verifyAudit } from '../../../../core/auth/audit/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { MOUNTS, needs } from '../../../harness/needs.ts'
import { SLOW } from '../../../harness/slow.ts'
import { mountSmallDisk } from '../../../harness/small-disk.ts'
import { testProgram } from '../../../harness/test-program.ts'
import { until } from '../../../harness/until.ts'

const child = await testProgram('audit-child.ts', import.meta.url)

let folder: string
let config: { audit_log: string; cachedir: string }
let complaints: string[]
const open: AuditLog[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await temporaryFolder('salt-audit-')
  config = { audit_log: join(folder, 'audit.log'), cachedir: folder }
  complaints = []
})

afterEach(async () => {
  for (const process of children.splice(0)) process.kill('SIGKILL')
  for (const log of open.splice(0)) await log.close()
  await removeFolder(folder)
})

function openLog(): AuditLog {
  const log = AuditLog.open(config, (problem) => complaints.push(problem))
  open.push(log)
  return log
}

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  act: 'publish',
  verdict: 'allowed',
  user: 'root',
  by: 'key',
  fun: 'test.ping',
  args: [],
  tgt: '*',
  ...more,
})

async function record(count: number): Promise<void> {
  const log = openLog()
  for (let n = 1; n <= count; n++) await log.record(entry({ args: [n] }))
}

const lines = async (path = config.audit_log) => (await readFile(path, 'utf8')).split('\n').slice(0, -1)
const read = async (path?: string) => (await lines(path)).map((line) => JSON.parse(line))

/** As who has the files can do it, without knowing how the log is made. */
async function edit(change: (lines: string[]) => string[]): Promise<void> {
  const changed = change(await lines())
  await writeFile(config.audit_log, changed.map((line) => `${line}\n`).join(''))
}

async function verify(noted?: Parameters<typeof verifyAudit>[2]) {
  return verifyAudit(config.audit_log, await openLog().end(), noted)
}

const problems = async (noted?: Parameters<typeof verifyAudit>[2]) => (await verify(noted)).problems

async function start(what: string, argument = ''): Promise<ChildProcess & { said: () => number }> {
  const args = [child, folder, what, argument]
  const process = spawn('node', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(process)
  let said = 0
  process.stdout.on('data', (text: Buffer) => {
    said += String(text).split('\n').length - 1
  })
  await until('the child speaks', () => said > 0)
  return Object.assign(process, { said: () => said })
}

describe('a line', () => {
  test('is JSON with a number, its own hash, and the hash of the line before', async () => {
    await record(3)
    const found = await read()
    expect(found.map(({ seq, args }) => [seq, args])).toEqual([
      [1, [1]],
      [2, [2]],
      [3, [3]],
    ])
    expect(found[0].prev).toBe('0'.repeat(64))
    expect(found[0].time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    expect(found[2].prev).toBe(found[1].hash)
    const [text = ''] = (await lines()).slice(2)
    const bare = text.replace(/, "hash": "[0-9a-f]{64}"\}$/, '}')
    expect(createHash('sha256').update(bare).digest('hex')).toBe(found[2].hash)
  })

  test('is readable by the user of the master only', async () => {
    await record(1)
    expect((await stat(config.audit_log)).mode & 0o777).toBe(0o600)
  })

  test('stays short, however long the request is', async () => {
    const log = openLog()
    await log.record(entry({ args: ['x'.repeat(100_000)], tgt: Array(50_000).fill('web1') }))
    const [line] = await read()
    expect(line.args).toEqual({ left_out: 100_004, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect((await lines())[0]?.length).toBeLessThan(2000)
    expect(await problems()).toEqual([])
  })

  test('stays short and readable, however long user, sender and reason are', async () => {
    const log = openLog()
    const long = 'x'.repeat(3_000_000)
    await log.record(entry({ user: long, reason: `'${long}' is not the name of a function.`, from: long }))
    await log.record(entry({}))
    expect(await read()).toMatchObject([{ user: { left_out: 3_000_002 } }, { user: 'root' }])
    expect(await problems()).toEqual([])
  })

  test('can hold values that JSON cannot express', async () => {
    const log = openLog()
    await log.record(
      entry({ args: [2n ** 70n, Number.NaN, new Map([[1, 'a']]), Buffer.from('b'), '\u2028\n'] }),
    )
    expect(await verify()).toMatchObject({ valid: true, lines: 1 })
  })

  test.each<[string, Partial<AuditEntry>]>([
    ['an unauthenticated user', { user: 'mallory', claimed: true }],
    ['a refused request of a minion', { user: 'web1', by: 'minion' }],
  ])('about %s is written 100 times a minute; the next one counts those left out', async (_, about) => {
    const log = openLog()
    const refusal = entry({ verdict: 'refused', ...about })
    await Promise.all(Array.from({ length: 250 }, () => log.record(refusal)))
    await log.record(entry())
    expect(await lines()).toHaveLength(101)
  })

  test('is dropped if more than ten thousand are waiting', SLOW, async () => {
    const log = openLog()
    await Promise.all(Array.from({ length: 10_050 }, () => log.record(entry())))
    expect(await lines()).toHaveLength(10_001)
    expect((await read())[0]).toMatchObject({ act: 'log', left_out: 50 })
  })
})

describe('verify', () => {
  const at = (line: number, seq = line) => `${config.audit_log} line ${line} (seq ${seq})`

  test('accepts an unchanged log, and reports its last line', async () => {
    await record(5)
    const last = (await read()).at(-1)
    expect(await verify()).toEqual({
      valid: true,
      lines: 5,
      files: { [config.audit_log]: 5 },
      last: { seq: 5, hash: last.hash, time: last.time },
      problems: [],
      notes: [],
    })
  })

  test('reports a line that was changed', async () => {
    await record(5)
    await edit((all) => all.map((line, index) => (index === 2 ? line.replace('root', 'toor') : line)))
    expect(await problems()).toEqual([`${at(3)} was changed: its hash does not match its text.`])
  })

  test('reports a line that was changed and given a new hash', async () => {
    await record(5)
    const remade = (line: string) => {
      const body = `${line.replace('root', 'toor').split(', "hash"')[0]}}`
      return `${body.slice(0, -1)}, "hash": "${createHash('sha256').update(body).digest('hex')}"}`
    }
    await edit((all) => all.map((line, index) => (index === 2 ? remade(line) : line)))
    expect(await problems()).toEqual([
      `${at(4)} does not follow from line seq 3: one of the two was replaced, or a new log was begun.`,
    ])
  })

  test('reports lines that were removed', async () => {
    await record(6)
    await edit((all) => all.filter((_, index) => index !== 1))
    expect(await problems()).toEqual([`Before ${at(2, 3)}, line seq 2 is missing.`])
    await edit((all) => all.filter((_, index) => index !== 2 && index !== 3))
    expect(await problems()).toEqual([
      `Before ${at(2, 3)}, line seq 2 is missing.`,
      `Before ${at(3, 6)}, lines seq 4 to 5 are missing.`,
    ])
  })

  test('reports a line that was inserted, of whatever kind', async () => {
    await record(3)
    await edit(([first = '', ...rest]) => [first, 'I was here', ...rest])
    expect(await problems()).toEqual([`${config.audit_log} line 2 is not a line of an audit log.`])
    await edit((all) => [...all.slice(0, 1), all[0] ?? '', ...all.slice(2)])
    expect(await problems()).toEqual([
      `${at(2, 1)} is out of place: it follows line seq 1. It was moved, or one of the two was inserted.`,
    ])
  })

  test('reports lines that changed places', async () => {
    await record(4)
    await edit(([one = '', two = '', three = '', four = '']) => [one, three, two, four])
    expect(await problems()).toEqual([
      `Before ${at(2, 3)}, line seq 2 is missing.`,
      `${at(3, 2)} is out of place: it follows line seq 3. It was moved, or one of the two was inserted.`,
    ])
  })

  test('reports lines that were cut off at the end, before and after the next line was written', async () => {
    await record(5)
    await edit((all) => all.slice(0, 3))
    expect(await problems()).toEqual([
      'Line seq 5, which was the last one, is missing: the log ends with line seq 3.',
    ])
    await record(1)
    expect((await read()).slice(3)).toMatchObject([
      { seq: 6, act: 'log', reason: 'The file ended with line seq 3: the next 2 are missing.' },
      { seq: 7, args: [1] },
    ])
    expect(await problems()).toEqual([`Before ${at(4, 6)}, lines seq 4 to 5 are missing.`])
  })

  test('reports lines that were cut off and removed from the store as well, if an earlier end was noted', async () => {
    await record(5)
    const noted = (await verify()).last
    for (const log of open.splice(0)) await log.close()
    await rm(join(folder, 'audit.mdb'))
    await edit((all) => all.slice(0, 3))
    expect(await problems()).toEqual([])
    const sentence = 'that was noted, is missing: the log ends with line seq 3.'
    expect(await problems({ since: noted?.seq, hash: noted?.hash })).toEqual([`Line seq 5, ${sentence}`])
    expect(await problems({ hash: noted?.hash })).toEqual([
      `The line with the hash ${noted?.hash}, ${sentence}`,
    ])
    await record(5)
    expect(await problems({ since: 5, hash: noted?.hash })).toEqual([
      expect.stringContaining('Line seq 5 is not the one that was noted: its hash is '),
    ])
  })

  test('recognises a noted line', async () => {
    await record(5)
    const noted = (await read())[2]
    await record(2)
    expect(await problems({ since: 3, hash: noted.hash })).toEqual([])
  })

  test('reports that a missing log is empty', async () => {
    expect(await verify()).toMatchObject({ valid: true, lines: 0, problems: [] })
  })
})

describe('rotation', () => {
  test('continues the chain in a new file, and all files are read', async () => {
    await record(3)
    await rename(config.audit_log, `${config.audit_log}.1`)
    await record(2)
    expect((await read())[0]).toMatchObject({ seq: 4, prev: (await read(`${config.audit_log}.1`))[2].hash })
    await writeFile(`${config.audit_log}-20261121.gz`, gzipSync(await readFile(`${config.audit_log}.1`)))
    await rm(`${config.audit_log}.1`)
    expect(await verify()).toMatchObject({ valid: true, lines: 5, last: { seq: 5 } })
    const found = await listAudit(config.audit_log, { limit: 4 })
    expect(found.map(({ seq }) => seq)).toEqual([2, 3, 4, 5])
  })

  test('may copy and empty the file, which is logged', async () => {
    await record(2)
    await writeFile(`${config.audit_log}.1`, await readFile(config.audit_log))
    await truncate(config.audit_log)
    await record(1)
    expect(await read()).toMatchObject([
      { seq: 3, act: 'log', reason: 'The file was emptied.' },
      { seq: 4, args: [1] },
    ])
    expect(await problems()).toEqual([])
  })

  test('that removes old files leaves a log that says where it begins', async () => {
    await record(3)
    await rm(config.audit_log)
    await record(2)
    expect(await verify()).toMatchObject({
      valid: true,
      notes: ['It begins with line seq 4: the 3 before it are in no file here.'],
    })
  })
})

describe('after a failure', () => {
  test('an unfinished line is removed before the next one, which says so', async () => {
    await record(2)
    await appendFile(config.audit_log, '{"seq": 3, "time": "20')
    expect(await verify()).toMatchObject({
      valid: true,
      notes: [`${config.audit_log} line 3 is unfinished. The next write to the log repairs that.`],
    })
    await record(1)
    expect((await read()).slice(2)).toMatchObject([
      { seq: 3, act: 'log', reason: 'An unfinished line was removed: 22 bytes.' },
      { seq: 4, args: [1] },
    ])
    expect(await problems()).toEqual([])
  })

  test('a log whose store is gone continues where the file ends', async () => {
    await record(3)
    for (const log of open.splice(0)) await log.close()
    await rm(join(folder, 'audit.mdb'))
    await record(1)
    expect((await read()).at(-1)).toMatchObject({ seq: 4 })
    expect(await problems()).toEqual([])
  })

  test('a foreign file of that name is kept, and the log begins after its content', async () => {
    await writeFile(config.audit_log, 'somebody else wrote this\n')
    await record(1)
    expect((await lines())[0]).toBe('somebody else wrote this')
    expect(await problems()).toEqual([`${config.audit_log} line 1 is not a line of an audit log.`])
  })

  test('a log that cannot be written causes one warning with the number of missing lines, and no other failure', async () => {
    await mkdir(config.audit_log)
    await record(3)
    expect(complaints).toEqual([
      expect.stringMatching(
        /^An action was carried out but not written to the audit log \(audit_log\) .*\. Left out so far: \d\.$/,
      ),
    ])
    await rmdir(config.audit_log)
    await record(1)
    expect(await read()).toMatchObject([
      { seq: 1, act: 'log', left_out: 3, reason: '3 lines before this one could not be written.' },
      { seq: 2, args: [1] },
    ])
  })

  test('lines that could not be written make the log invalid, before and after the next line, in every process', async () => {
    await mkdir(config.audit_log)
    for (let n = 0; n < 3; n++) await openLog().record(entry())
    for (const log of open.splice(0)) await log.close() // its count is not in memory any more
    await rmdir(config.audit_log)
    expect(await verify()).toMatchObject({
      valid: false,
      problems: ['After the last line, 3 lines could not be written.'],
    })
    await record(1)
    expect(await read()).toMatchObject([{ seq: 1, act: 'log', left_out: 3 }, { seq: 2 }])
    expect(await verify()).toMatchObject({
      valid: false,
      problems: [`Before ${config.audit_log} line 1 (seq 1), 3 lines could not be written.`],
    })
  })

  test(
    'a full disk leaves no half line, and the log continues when there is room',
    needs(MOUNTS),
    async () => {
      const disk = mountSmallDisk(join(folder, 'disk'), 1)
      config = { ...config, audit_log: join(folder, 'disk/audit.log') }
      try {
        await record(3)
        disk.fill()
        const log = openLog()
        const large = entry({ args: ['x'.repeat(16_000)] })
        await Promise.all(Array.from({ length: 5 }, () => log.record(large)))
        expect(complaints.join('\n')).toContain('the disk is full')
        expect(await lines()).toHaveLength(3)
        disk.makeRoom()
        await record(1)
        expect((await read()).slice(3)).toMatchObject([{ act: 'log', left_out: 5 }, { args: [1] }])
        expect(await problems()).toEqual([
          expect.stringMatching(/Before .* \(seq 4\), 5 lines could not be written\.$/),
        ])
        for (const log of open.splice(0)) await log.close()
      } finally {
        disk.close()
      }
    },
  )

  test(
    'a process that is stopped while writing does not block others, and is named; a slow one is not',
    SLOW,
    async () => {
      await record(1) // LMDB opens a file only while nobody writes
      const holder = await start('hold')
      await openLog().record(entry())
      holder.kill('SIGSTOP')
      await openLog().record(entry())
      await until('it is told', () => complaints.length > 0)
      expect(complaints).toEqual([
        expect.stringMatching(`: process ${holder.pid} \\(.*is stopped, as by Ctrl-Z`),
      ])
      holder.kill('SIGKILL')
      await until('the lines are there', async () => (await lines()).length === 3)
    },
  )

  test('processes that write at once and are killed leave a chain without a gap', SLOW, async () => {
    const writers = await Promise.all(['a', 'b', 'c'].map((name) => start('write', name)))
    for (let round = 0; round < 6; round++) {
      const [victim] = writers.splice(0, 1)
      const said = victim?.said() ?? 0
      await until('it has written more', () => (victim?.said() ?? 0) > said + 5)
      victim?.kill('SIGKILL')
      writers.push(await start('write', String(round)))
    }
    for (const writer of writers) writer.kill('SIGKILL')
    await Promise.all(writers.map((writer) => until('it is gone', () => writer.signalCode !== null)))
    await record(1)
    const report = await verify()
    expect(report.problems).toEqual([])
    expect(report.last?.seq).toBe(report.lines)
    expect(report.lines).toBeGreaterThan(100)
  })
})

test('list filters by user, act and verdict, and returns the newest lines', async () => {
  const log = openLog()
  await log.record(entry({ user: 'web1', act: 'peer' }))
  await log.record(entry({ user: 'web2', act: 'peer', verdict: 'refused', reason: 'No.' }))
  await log.record(entry({ user: 'alice', act: 'runner', fun: 'jobs.active' }))
  const users = async (query: Parameters<typeof listAudit>[1]) =>
    (await listAudit(config.audit_log, query)).map(({ user }) => user)
  expect(await users({})).toEqual(['web1', 'web2', 'alice'])
  expect(await users({ user: 'web*' })).toEqual(['web1', 'web2'])
  expect(await users({ act: 'runner' })).toEqual(['alice'])
  expect(await users({ verdict: 'refused' })).toEqual(['web2'])
  expect(await users({ limit: 1 })).toEqual(['alice'])
})
