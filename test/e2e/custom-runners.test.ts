/** Runners of users: how they are found, called, listed, and how they end. */
import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunnerClient } from '../../core/client/index.ts'
import type { Event } from '../../core/events/index.ts'
import { runningRuns } from '../../core/runs/running-runs.ts'
import { bin, Cluster, run } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const source = (greeting: string) => `/** Own. */
import { fn, p } from 'salt-ts'

/**
 * Ask minions, and tell of each.
 *
 * @example salt-run own.ask 'web*' times=2
 */
export const ask = fn({ tgt: p.string(), times: p.default(p.integer({ minimum: 1 }), 1) }, async ({ tgt, times }, { master }) => {
  const answers: Record<string, unknown> = {}
  for await (const { id, return: answer } of master.run({ tgt, fun: 'test.echo', arg: ['${greeting}'] })) {
    await master.progress({ message: \`\${id} answered\` })
    answers[id] = Array(times).fill(answer)
  }
  return answers
})
`

/** In JavaScript, which every process of a runner loads sooner than TypeScript. */
const ends = `
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fn, p } from 'salt-ts'

export const sleepers = fn(async (_, { master }) => {
  for await (const { id } of master.run({ tgt: '*', fun: 'test.sleep', arg: [300] })) return id
})
export const spin = fn(() => { process.stderr.write('it turns\\n'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) })
export const memory = fn(() => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)) })
export const proxy = fn(() => { throw new Proxy({}, { get() { throw 1 }, has() { throw 1 }, getPrototypeOf() { throw 1 } }) })
export const question = fn(() => { process.stderr.write('Sure? '); return 'asked' })
export const leave = fn(() => process.exit(0))
export const uncaught = fn(async () => { void Promise.reject(new Error('unseen')); await setTimeout(60_000) })
export const until = fn({ file: p.string() }, async ({ file }, { signal }) => {
  while (!existsSync(file)) await setTimeout(50, undefined, { signal })
  return 'it is there'
})
`

let folder: string
let own: string
let cluster: Cluster
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-runners-')
  own = join(folder, 'own.ts')
  await writeFile(own, source('hello'))
  await writeFile(join(folder, 'ends.js'), ends)
  await writeFile(join(folder, 'broken.ts'), 'export const a = 1\nexport const b = ( => 2\n')
  cluster = await Cluster.open({ minions: ['web1'], master: { runner_dirs: [folder] } })
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const runner = (...words: string[]) => cluster.spawned('salt-run', ...words)
const start = async (...words: string[]) => (await runner('--async', ...words)).stdout.trim()

/** What a runner gives; in this process, which is sooner. */
async function ask(fun: string, ...args: string[]): Promise<unknown> {
  const client = new RunnerClient({ config: cluster.config, log: quietLog, user: 'ann' })
  const result = await client.run(fun, args, {})
  await client.close()
  return result.return
}
const running = async () => Object.keys((await ask('runs.list')) as object)
/** What `running` looks at, for those who look many times. */
const processes = () => runningRuns(cluster.config)

async function returned(jid: string): Promise<{ success: boolean; return: unknown }> {
  const { config } = cluster
  await until(`the return of ${jid}`, () => readJobCache({ config }, (cache) => cache.returns(jid).size > 0))
  const answer = await ask('jobs.lookup_jid', jid)
  if (typeof answer !== 'object' || answer === null) throw new Error(`lookup_jid: ${answer}`)
  return Object.values(answer)[0]
}

/** The events of a run, until its end. */
async function eventsOf(work: () => Promise<unknown>, fun: string): Promise<Event[]> {
  const bus = await cluster.events()
  const events = bus.subscribe('salt/run/')
  const [seen] = await Promise.all([collect(events, fun), work()])
  await bus.close()
  return seen
}

async function collect(events: AsyncIterable<Event>, fun: string): Promise<Event[]> {
  const seen: Event[] = []
  let jid: unknown
  for await (const event of events) {
    if (event.data.fun === `runner.${fun}`) jid ??= event.data.jid
    if (event.tag.startsWith(`salt/run/${jid}/`)) seen.push(event)
    if (event.tag === `salt/run/${jid}/ret`) break
  }
  return seen
}

test('one file in runner_dirs is a runner, whose progress is printed while it works, and fired on the event bus', async () => {
  const events = await eventsOf(async () => {
    expect(await runner('own.ask', 'web*', 'times=2', '--out', 'json', '--out-indent=-1')).toMatchObject({
      code: 0,
      stderr: 'web1 answered\n',
      stdout: '{"web1": ["hello", "hello"]}\n',
    })
  }, 'own.ask')
  expect(events.map(({ tag }) => tag.replace(/^.*\//, ''))).toEqual(['new', 'progress', 'ret'])
  expect(events[1]?.data).toMatchObject({ message: 'web1 answered' })
})

test('its calls are checked, its help is its comment, and changed code runs with the next call', async () => {
  const refused = await runner('own.ask', '*', 'times=0')
  expect([refused.code, refused.stderr]).toEqual([
    64,
    expect.stringContaining("'times' must be at least 1, not 0"),
  ])
  expect((await runner('-d', 'own.ask')).stdout).toContain("salt-run own.ask 'web*' times=2")
  await writeFile(own, source('changed'))
  expect((await runner('own.ask', '*')).stdout).toContain('changed')
})

test('a file that cannot be read is named with its line, and does not affect the others', async () => {
  const { code, stderr } = await runner('broken.a')
  expect([code, stderr]).toEqual([64, expect.stringContaining(`${folder}/broken.ts:2: SyntaxError`)])
})

test('-m names a folder of runners without any configuration', async () => {
  const other = join(folder, 'other')
  await mkdir(other)
  await writeFile(join(other, 'mine.js'), "export const a = () => 'flat'\n")
  expect((await runner('-m', other, 'mine.a')).stdout).toBe('flat\n')
  expect((await runner('mine.a')).code).toBe(64)
})

test('a runner in the background is listed, has no return yet, and can be killed, which its return says', async () => {
  const jid = await start('ends.sleepers')
  expect(await ask('runs.list')).toMatchObject({ [jid]: { Function: 'runner.ends.sleepers', Arguments: [] } })
  expect(await ask('jobs.lookup_jid', jid)).toEqual({})
  expect(await ask('runs.kill', jid)).toBe(true)
  expect(await returned(jid)).toMatchObject({
    success: false,
    return: 'runner ends.sleepers was killed (SIGTERM) before it was done.',
  })
  expect(await running()).toEqual([])
  expect(await ask('runs.kill', jid)).toContain('See salt-run runs.list.')
})

test('a runner in an endless loop is killed, too', async () => {
  const jid = await start('ends.spin')
  const events = await eventsOf(() => ask('runs.kill', jid), 'ends.spin')
  expect(events.at(-1)?.data).toMatchObject({ jid, success: false })
  expect((await returned(jid)).return).toContain('runner ends.spin ended before its function did')
})

test('a runner that ends its own process has failed, in the foreground and in the background', async () => {
  const [left, jid] = await Promise.all([runner('ends.leave'), start('ends.leave')])
  expect(left).toMatchObject({
    code: 1,
    stderr: 'ERROR: ends.leave ended its process (exit code 0) before it returned.\n',
  })
  expect(await returned(jid)).toMatchObject({
    success: false,
    return: expect.stringContaining('process.exit'),
  })
})

test('an uncaught error is the return of the runner', async () => {
  const { code, stderr } = await runner('ends.uncaught')
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Exception occurred in runner ends\.uncaught: Error: unseen/),
  ])
})

test('Ctrl-C ends a runner in the foreground, and its end is an event', async () => {
  const file = join(folder, 'never')
  const events = await eventsOf(async () => {
    const child = spawn(process.execPath, [
      join(bin, 'salt-run'),
      '-c',
      cluster.configDir,
      'ends.until',
      file,
    ])
    await until('it to run', async () => (await processes()).length > 0)
    const gone = new Promise((done) => child.once('close', done))
    child.kill('SIGINT')
    expect(await gone).toBe(130)
  }, 'ends.until')
  expect(events.at(-1)?.data).toMatchObject({ success: false, return: expect.stringContaining('(Ctrl-C)') })
})

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 1],
] as const)(
  'a runner in an endless loop in the foreground is ended by %s, with all processes it started',
  async ([signal, code]) => {
    const events = await eventsOf(async () => {
      const child = spawn(process.execPath, [join(bin, 'salt-run'), '-c', cluster.configDir, 'ends.spin'])
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
      await until('it to run', () => stderr === 'it turns\n')
      const gone = new Promise((done) => child.once('close', done))
      child.kill(signal)
      expect(await gone).toBe(code)
      expect(stderr).toBe('it turns\nERROR: ends.spin did not end in time and was killed.\n')
    }, 'ends.spin')
    expect(events.at(-1)?.data).toMatchObject({
      success: false,
      return: expect.stringContaining('was killed'),
    })
    expect(await running()).toEqual([])
  },
)

test('a runner in an endless loop is ended by runner_timeout, in the foreground and in the background', async () => {
  await cluster.master.writeConfig({ runner_timeout: 1 })
  const [{ code, stderr }, jid] = await Promise.all([runner('ends.spin'), start('ends.spin')])
  await cluster.master.writeConfig()
  expect(code).toBe(1)
  expect(stderr).toContain(
    'ends.spin ran longer than 1 s (runner_timeout) and did not stop when it was aborted; it is killed.',
  )
  expect((await returned(jid)).return).toContain('runner ends.spin ended before its function did')
  expect(await running()).toEqual([])
})

test('a runner that runs out of memory, or throws a value that cannot be shown, is reported in a sentence', async () => {
  process.env.NODE_OPTIONS = '--max-old-space-size=120'
  const { code, stderr } = await runner('ends.memory').finally(() => delete process.env.NODE_OPTIONS)
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^ERROR: The process of ends\.memory ran out of memory: .*\n$/),
  ])
  expect((await runner('ends.proxy')).stderr).toContain('a value that cannot be shown was thrown')
})

test('rows are shown before the result; words of standard input are arguments', async () => {
  expect(await runner('ends.question')).toMatchObject({ code: 0, stderr: 'Sure? ', stdout: 'asked\n' })
  const words = ['-c', cluster.configDir, '--args-stdin', 'ends.until']
  expect(await run('salt-run', words, `file=${own}\n`)).toMatchObject({ code: 0, stdout: 'it is there\n' })
})

test('a runner continues when the master is stopped; its return is stored at once, and announced by the next master', async () => {
  const file = join(folder, 'later')
  const jid = await start('ends.until', file)
  await cluster.master.stop()
  await writeFile(file, '')
  expect(await returned(jid)).toMatchObject({ success: true, return: 'it is there' })
  const files = () => readdir(join(cluster.config.cachedir, 'proc'))
  await until('it to give up telling', async () => (await processes()).length === 0)
  expect(await files()).toEqual([jid])
  await cluster.startMaster()
  await until('the end to be told', async () => (await files()).length === 0)
})
