import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MinionServices } from '../../core/author/context.ts'
import { deferred } from '../../core/base/deferred.ts'
import { isTemporary } from '../../core/base/files/atomic-file.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { JobPool, type JobPoolSettings } from '../../core/minion/jobs/job-pool.ts'
import type { JobLoad } from '../../core/wire/publication.ts'
import type { ReturnLoad } from '../../core/wire/return.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog, spyLog } from '../harness/log.ts'
import { MOUNTS, needs } from '../harness/needs.ts'
import { isAlive } from '../harness/processes.ts'
import { mountSmallDisk } from '../harness/small-disk.ts'
import { until } from '../harness/until.ts'

/** What the file that the minion has open for a job process reports when it is closed, as files of NFS do. */
const fault = vi.hoisted((): { ofClose?: Error } => ({}))
vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original()
  const open: typeof real.open = async (path, ...rest) => {
    const handle = await real.open(path, ...rest)
    const { close } = handle
    if (fault.ofClose && String(path).startsWith('/proc/'))
      handle.close = () => close().then(() => Promise.reject(fault.ofClose))
    return handle
  }
  return { ...real, open }
})

process.execArgv.length = 0 // job processes run what was built, without the test runner's conditions

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-pool-')
})
afterEach(() => removeFolder(folder))

function openPool(config: object = {}, settings: Partial<JobPoolSettings> = {}): JobPool {
  const overrides = { id: 'web1', root_dir: folder, ...config }
  return new JobPool({
    id: 'web1',
    config: loadMinionConfig({ configDir: folder, overrides }).config,
    facts: () => ({ grains: {}, pillar: {} }),
    log: quietLog,
    warm: 1,
    ...settings,
  })
}

const jobOf = (fun: string, ...arg: unknown[]): JobLoad => ({
  fun,
  arg,
  tgt: 'web1',
  jid: '20261121034212345678',
  ret: '',
  tgt_type: 'glob',
})

/** Run a job and give its return. */
async function run(
  pool: JobPool,
  job: JobLoad,
  onStarted: (pid: number) => void = () => {},
  services: Partial<MinionServices> = {},
): Promise<ReturnLoad> {
  const returns: ReturnLoad[] = []
  await pool.run(job, {
    services: services as MinionServices,
    master: '127.0.0.1:4506',
    cancelled: new AbortController().signal,
    started: async ({ pid }) => onStarted(pid),
    shown: async () => {},
    findSpooled: () => undefined,
    finished: async (ret) => {
      returns.push(ret)
    },
  })
  expect(returns).toHaveLength(1)
  return returns[0]!
}

test('a job that is killed has a return, and no error is logged', async () => {
  const log = spyLog()
  const pool = openPool({}, { log })
  const job = jobOf('test.sleep', 30)
  const ret = await run(pool, job, (pid) => process.kill(pid, 'SIGKILL'))
  pool.close()
  expect(ret).toMatchObject({ jid: job.jid, success: false, return: expect.stringContaining('SIGKILL') })
  expect(log.error).not.toHaveBeenCalled()
})

test('an error of a TypeScript module is returned with the line and column of its source', async () => {
  await mkdir(join(folder, 'modules'))
  const file = join(folder, 'modules', 'typed.ts')
  await writeFile(
    file,
    `interface Place {\n  name: string\n}\n\nexport const late = (place: Place) => {\n  throw new Error(place.name)\n}\n`,
  )
  const pool = openPool({ module_dirs: [join(folder, 'modules')] })
  const ret = await run(pool, jobOf('typed.late', { name: 'here' }))
  pool.close()
  expect(ret).toMatchObject({ success: false, return: expect.stringContaining(`${file}:6:9)`) })
})

test('a result that cannot be sent is a failed return that names its place, and the process continues', async () => {
  await mkdir(join(folder, 'modules'))
  await writeFile(
    join(folder, 'modules', 'odd.js'),
    `export const closure = () => () => 1
export const turns = () => { const value = { a: {} }; value.a.a = value.a; return value }
export const deep = () => Array.from({ length: 127 }).reduce((inner) => [inner], 1)
export const many = () => Array.from({ length: 1_000_001 }, () => [])
`,
  )
  const pool = openPool({ module_dirs: [folder] })
  const pids = new Set<number>()
  const returned = async (fun: string | string[], ...arg: unknown[]) =>
    run(pool, { ...jobOf('', ...arg), fun } as JobLoad, (pid) => pids.add(pid))
  const failed = { retcode: 1, success: false, out: 'nested' }
  expect(await returned('odd.closure')).toMatchObject({
    ...failed,
    return: 'ERROR: The value cannot be encoded: return is a function.',
  })
  expect(await returned(['test.echo', 'odd.turns'], ['x'], [])).toMatchObject({
    return: {
      'test.echo': 'x',
      'odd.turns': 'ERROR: The value cannot be encoded: return.a.a is circular.',
    },
    retcode: { 'test.echo': 0, 'odd.turns': 1 },
  })
  expect(await returned('odd.deep')).toMatchObject({
    ...failed,
    return: expect.stringMatching(/^ERROR: .* is nested deeper than 112 levels\.$/),
  })
  expect(await returned('odd.many')).toMatchObject({
    ...failed,
    return: expect.stringContaining('too large to be sent'),
  })
  expect((await returned('test.echo', 'still here')).return).toBe('still here')
  expect(pids.size).toBe(1)
  pool.close()
})

test('the return says why a job has ended: an error in a timer, an unhandled rejection, or no memory', async () => {
  await mkdir(join(folder, 'modules'))
  await writeFile(
    join(folder, 'modules', 'ends.js'),
    `import { setTimeout as delay } from 'node:timers/promises'
export const deaf = () => { setTimeout(() => { throw new Error('late') }); return delay(60_000) }
export const rejection = () => { void Promise.reject(new Error('unseen', { cause: new Error('no such host') })); return delay(60_000) }
export const memory = () => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)) }
`,
  )
  const options = process.env.NODE_OPTIONS
  process.env.NODE_OPTIONS = '--max-old-space-size=60'
  const pool = openPool({ module_dirs: [folder] })
  try {
    const returned = async (fun: string) => (await run(pool, jobOf(fun))).return
    const uncaught = 'ERROR: The minion function caused an exception that nothing caught: Error: '
    expect(await returned('ends.deaf')).toContain(`${uncaught}late\n    at `)
    expect(await returned('ends.rejection')).toMatch(
      /nothing caught: Error: unseen[\s\S]+Caused by: Error: no such host/,
    )
    expect(await returned('ends.memory')).toMatch(/^ERROR: The process of job \d+ ran out of memory: .*heap/)
    expect(await returned('test.echo')).toContain('missing 1 required')
  } finally {
    pool.close()
    if (options === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = options
  }
}, 60_000)

describe('a file that a job fetches', () => {
  const PIECE = 100_000
  const content = randomBytes(7 * PIECE + 5)
  const hash = { hash_type: 'sha256', hsum: createHash('sha256').update(content).digest('hex') }

  /** Let a job fetch a file into `dest` from a master that answers so. */
  async function fetch(dest: string, serve: (loc: number) => object): Promise<ReturnLoad> {
    const pool = openPool()
    const request: MinionServices['request'] = async ({ cmd, loc }) =>
      cmd === '_serve_file' ? serve(Number(loc)) : hash
    const job = jobOf('cp.get_file', 'salt://big', dest)
    return run(pool, job, undefined, { request }).finally(() => pool.close())
  }
  const unsendable = () => {} // an answer with it cannot be encoded, and so not be sent to the job process
  const piece = (loc: number) => ({ data: content.subarray(loc, loc + PIECE), dest: 'big' })

  test('is written by the minion process, and no piece is sent to the job process', async () => {
    const dest = join(folder, 'big')
    const ret = await fetch(dest, (loc) => ({ ...piece(loc), unsendable }))
    expect(ret).toMatchObject({ return: dest, success: true })
    expect((await readFile(dest)).equals(content)).toBe(true)
  })

  test('is fetched again if it changes meanwhile, and missing if it changes each time', async () => {
    const dest = join(folder, 'big')
    let asked = 0
    const ret = await fetch(dest, (loc) => {
      asked += loc === 0 ? 1 : 0
      return loc < 2 * PIECE ? piece(loc) : { data: '', dest: 'big' }
    })
    expect(ret).toMatchObject({
      success: false,
      return: expect.stringContaining('(200000 bytes) does not have the hash that the master reported'),
    })
    expect(asked).toBe(3)
    expect(existsSync(dest)).toBe(false)
  })

  test('is missing with the reason of the master', async () => {
    const gone = () => {
      throw new Error('It has gone.')
    }
    const ret = await fetch(join(folder, 'big'), gone)
    expect(ret).toMatchObject({
      success: false,
      return: expect.stringContaining('The file server did not answer: It has gone.'),
    })
  })

  test('is missing with the reason of the system where it cannot be closed', async () => {
    fault.ofClose = Object.assign(new Error('EIO: i/o error, close'), { code: 'EIO', errno: -5 })
    const dest = join(folder, 'big')
    const ret = await fetch(dest, piece).finally(() => delete fault.ofClose)
    expect([ret.success, ret.return]).toEqual([
      false,
      expect.stringContaining(`${dest} could not be written: `),
    ])
  })

  test('leaves no part of it where the job is killed meanwhile', async () => {
    const pool = openPool()
    const asked = deferred()
    const left = deferred()
    const request: MinionServices['request'] = async ({ cmd, loc }) => {
      if (cmd !== '_serve_file') return hash
      if (Number(loc) < 2 * PIECE) return piece(Number(loc))
      asked.resolve()
      await left.promise
      return piece(Number(loc))
    }
    let pid = 0
    const started = (of: number) => {
      pid = of
    }
    const killed = run(pool, jobOf('cp.get_file', 'salt://big', join(folder, 'big')), started, { request })
    await asked.promise
    process.kill(pid, 'SIGKILL')
    expect(await killed).toMatchObject({ success: false })
    left.resolve()
    await until('the part to be gone', async () => !(await readdir(folder)).some((name) => isTemporary(name)))
    pool.close()
  })

  test('is downloaded by the job process itself while downloads of the minion may hang', async () => {
    const pool = openPool()
    const silent = new Set<number>()
    const request: MinionServices['request'] = async ({ cmd, path, loc }) => {
      if (cmd !== '_serve_file') return hash
      if (path !== 'hangs') return { ...piece(Number(loc)), unsendable }
      silent.add(silent.size)
      return new Promise(() => {})
    }
    const pids: number[] = []
    const fetch = (path: string) => {
      const job = jobOf('cp.get_file', `salt://${path}`, join(folder, `${path}-${pids.length}`))
      return run(pool, job, (pid) => pids.push(pid), { request })
    }
    const hanging: Promise<ReturnLoad>[] = []
    for (const count of [1, 2]) {
      hanging.push(fetch('hangs'))
      await until('the piece to be asked for', () => silent.size === count)
    }
    expect((await fetch('big')).return).toContain('unsendable is a function')
    for (const pid of pids.slice(0, 2)) process.kill(pid, 'SIGKILL')
    await Promise.all(hanging)
    pool.close()
  })

  test('is missing with the reason of the system where the disk is full', needs(MOUNTS), async () => {
    const small = join(folder, 'small')
    const disk = mountSmallDisk(small, 1)
    disk.fill()
    try {
      const dest = join(small, 'big')
      const { success, return: value } = await fetch(dest, piece)
      expect([success, value]).toEqual([false, expect.stringContaining(`${dest} could not be written: `)])
      expect(existsSync(dest)).toBe(false)
    } finally {
      disk.close()
    }
  })
})

test('questions between jobs are answered by the process that is ready, and start no other', async () => {
  const pool = openPool()
  expect(await pool.describe(false, false)).toContain('test.ping')
  expect(await pool.check([{ fun: 'test.ping', arg: [] }])).toEqual([null])
  expect(pool.idle).toBe(1)
  expect(pool.started).toBe(1)
  pool.close()
})

test('jobs in a row share two processes, one of which ends when no job comes', async () => {
  const pool = openPool({}, { spareMs: 300 })
  const pids = new Set<number>()
  for (let job = 0; job < 4; job++) await run(pool, jobOf('test.ping'), (pid) => pids.add(pid))
  await until('one process to be left', () => pool.idle === 1)
  expect([...pids].map(isAlive)).toEqual([true])
  expect(pool.started).toBe(2)
  expect(await run(pool, jobOf('test.ping'))).toMatchObject({ return: true })
  pool.close()
})

test('many jobs at once share processes: fewer than 20 are started for 40 jobs', async () => {
  const pool = openPool()
  const pids = new Set<number>()
  const all = Array.from({ length: 40 }, () => run(pool, jobOf('test.echo', 'x'), (pid) => pids.add(pid)))
  expect((await Promise.all(all)).map((ret) => ret.return)).toEqual(all.map(() => 'x'))
  expect(pool.started).toBeLessThan(20)
  pool.close()
})

test('a job that is taken back while it waits for a process does not begin, and its return says so', async () => {
  const pool = openPool({}, { warm: 0 })
  const left = new AbortController()
  const returns: ReturnLoad[] = []
  const running = pool.run(jobOf('test.ping'), {
    services: {} as MinionServices,
    master: '127.0.0.1:4506',
    cancelled: left.signal,
    started: () => Promise.reject(new Error('it has begun')),
    shown: async () => {},
    findSpooled: () => undefined,
    finished: async (ret) => void returns.push(ret),
  })
  left.abort(new Error('It is not wanted any more.'))
  await running
  expect(returns).toEqual([expect.objectContaining({ return: 'ERROR: It is not wanted any more.' })])
  pool.close()
})

test('a file that loops while it is loaded is named, ends no other job, and is not loaded again until it changes', async () => {
  const file = join(folder, 'modules', 'endless.js')
  await mkdir(join(folder, 'modules'))
  await writeFile(file, 'for (;;);\nexport const f = () => 1\n')
  const pool = openPool({ module_dirs: [folder] }, { loadMs: 2_000 })
  const other = run(pool, jobOf('test.arg', 1))
  const first = await run(pool, jobOf('endless.f'))
  expect(first).toMatchObject({ success: false, retcode: 1 })
  const reason = `${file}: blocked its process for 2 s while it was loaded; is there an endless loop at its top level?`
  expect(first.return).toBe(`ERROR: ${reason}`)
  expect((await other).return).toMatchObject({ args: [1] })

  const pids: number[] = []
  const again = await run(pool, jobOf('endless.f'), (pid) => pids.push(pid))
  expect(again.return).toBe(`'endless.f' is not available. Possible reasons: '${reason}'`)
  expect((await run(pool, jobOf('test.echo', 'still here'), (pid) => pids.push(pid))).return).toBe(
    'still here',
  )
  expect(new Set(pids).size).toBe(1) // the process has outlived the refusal

  await writeFile(file, 'export const f = () => "repaired"\n')
  expect((await run(pool, jobOf('endless.f'))).return).toBe('repaired')
  pool.close()
})

test('a file that blocks its process after its job has timed out is found, too', async () => {
  const flag = join(folder, 'block')
  await mkdir(join(folder, 'modules'))
  const wait = `while (!existsSync(${JSON.stringify(flag)})) await new Promise((done) => setTimeout(done, 10))`
  const text = `import { existsSync } from 'node:fs'\n${wait}\nfor (;;);\nexport const f = () => 1\n`
  await writeFile(join(folder, 'modules', 'late.js'), text)
  const pool = openPool({ module_dirs: [folder] }, { loadMs: 300 })
  let pid = 0
  const first = await run(pool, jobOf('late.f'), (started) => {
    pid = started
  })
  expect(first.return).toContain('did not finish loading within 0.3 s')
  await writeFile(flag, '')
  await until('the process that is blocked to be gone', () => !isAlive(pid))
  pool.close()
})

test('functions are listed without the files that block their process, however many', async () => {
  await mkdir(join(folder, 'modules'), { recursive: true })
  for (const name of ['one', 'two', 'three'])
    await writeFile(join(folder, 'modules', `${name}.js`), 'for (;;) {}\n')
  const pool = openPool({ module_dirs: [folder] }, { warm: 0, loadMs: 1_000 })
  try {
    const catalogue = JSON.parse((await pool.describe(true)) ?? '')
    expect(catalogue.functions).toHaveProperty('test.ping')
    expect(Object.keys(catalogue.missing)).toEqual(expect.arrayContaining(['one', 'two', 'three']))
  } finally {
    pool.close()
  }
})

describe('questions about modules', () => {
  let pool: JobPool
  beforeEach(async () => {
    await mkdir(join(folder, 'modules'))
    pool = openPool({ module_dirs: [folder] })
  })
  afterEach(() => pool.close())
  const module = (name: string, text: string) => writeFile(join(folder, 'modules', `${name}.js`), text)

  test('functions are listed in a process of its own', async () => {
    await module('own', 'export const pid = () => process.pid\n')
    const catalogue = JSON.parse((await pool.describe()) ?? '')
    expect(catalogue.functions).toMatchObject({ 'own.pid': null, 'test.ping': {} })
  })

  test('calls are checked as jobs would check them, one after the other in the same process', async () => {
    await module('own', 'export const pid = () => process.pid\n')
    const calls = [
      { fun: 'test.ping', arg: [] },
      { fun: 'own.pid', arg: ['anything'] },
      { fun: 'test.sleep', arg: [1.5], words: { args: ['1.50'], kwargs: {} } },
      { fun: 'test.pign', arg: [] },
    ]
    for (let round = 0; round < 2; round++)
      expect(await pool.check(calls)).toEqual([null, null, null, "'test.pign' is not available."])
  })

  test('a module that ends or stops the process gets no answer, and the next question does', async () => {
    await module('own', 'export const pid = () => process.pid\n')
    await module('ends', 'process.exit(3)\n')
    expect(await pool.describe()).toBeUndefined()
    expect(await pool.check([{ fun: 'ends.it', arg: [] }])).toBeUndefined()
    await module('ends', 'for (;;) {}\n')
    expect(await pool.check([{ fun: 'ends.it', arg: [] }])).toBeUndefined()
    expect(await pool.check([{ fun: 'own.pid', arg: [] }])).toEqual([null])
  })
})
