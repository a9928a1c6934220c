import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

interface Shown {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parent?: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code: number }
  readonly start: number
  readonly end: number
  readonly pid: number
}

const folder = await temporaryFolder('salt-spans-')
const file = join(folder, 'spans')
const before = { ...process.env }

let cluster: Cluster
beforeAll(async () => {
  process.env.SPANS = file
  process.env.NODE_OPTIONS = `--import ${new URL('../fixtures/tracing.mjs', import.meta.url).href}`
  writeFileSync(
    join(folder, 'spanning.mjs'),
    `import { trace } from '${import.meta.resolve('@opentelemetry/api')}'
     export const inner = () => { trace.getTracer('own').startSpan('asks a database').end(); return true }`,
  )
  cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    master: { master_job_cache: 'sqlite3', 'sqlite3.database': join(folder, 'jobs.db'), worker_threads: 2 },
    minion: { module_dirs: [folder] },
  })
})
afterAll(async () => {
  process.env.NODE_OPTIONS = before.NODE_OPTIONS ?? ''
  delete process.env.SPANS
  await cluster.close()
  removeFolder(folder)
})

const spans = (): Shown[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** The spans of the job that was published last with that function, once there are so many. */
async function traceOf(fun: string, count: number): Promise<Shown[]> {
  return until(
    () =>
      `${count} spans of ${fun}:\n${spans()
        .map(({ name, traceId }) => `${traceId} ${name}`)
        .join('\n')}`,
    () => {
      const all = spans()
      const root = all.findLast(({ name }) => name === `salt ${fun}`)
      const found = all.filter(({ traceId }) => traceId === root?.traceId)
      return found.length >= count && found
    },
  )
}

const parentOf = (trace: readonly Shown[], span: Shown) => trace.find(({ spanId }) => spanId === span.parent)

test('a job is one trace from its client to the processes that run it and the store its returns go to', async () => {
  const { stdout, code } = await cluster.spawned('salt', '*', 'test.ping', '-v')
  expect(code).toBe(0)
  const jid = /\d{20}/.exec(stdout)?.[0]
  const trace = await traceOf('test.ping', 10)
  expect(new Set(trace.map(({ traceId }) => traceId))).toEqual(new Set([`000000000000${jid}`]))
  const tree = trace.map((span) => {
    const minion = span.attributes['salt.minion.id'] ?? ''
    return `${parentOf(trace, span)?.name ?? '-'} > ${span.name} ${minion}`
  })
  expect(tree.sort()).toEqual([
    '- > salt test.ping ',
    'job test.ping > return test.ping web1',
    'job test.ping > return test.ping web2',
    'job test.ping > run test.ping web1',
    'job test.ping > run test.ping web2',
    'publish test.ping > job test.ping web1',
    'publish test.ping > job test.ping web2',
    'return test.ping > write sqlite3 web1',
    'return test.ping > write sqlite3 web2',
    'salt test.ping > publish test.ping ',
  ])
  for (const span of trace) {
    const minion = parentOf(trace, span)?.attributes['salt.minion.id']
    if (minion !== undefined) expect(span.attributes['salt.minion.id']).toBe(minion)
    expect(span.attributes['salt.jid']).toBe(jid)
    expect(span.end).toBeGreaterThanOrEqual(span.start)
  }
  expect(new Set(trace.map(({ spanId }) => spanId)).size).toBe(10)
  expect(new Set(trace.map(({ pid }) => pid)).size).toBeGreaterThanOrEqual(5)
})

test('spans of a module are children of its run, and contain no secrets', async () => {
  const { code } = await cluster.spawned('salt', 'web1', 'spanning.inner')
  expect(code).toBe(0)
  const trace = await traceOf('spanning.inner', 7)
  const inner = trace.find(({ name }) => name === 'asks a database')!
  expect(parentOf(trace, inner)?.name).toBe('run spanning.inner')
  await cluster.spawned('salt', 'web1', 'test.echo', 'hunter2')
  await traceOf('test.echo', 6)
  expect(readFileSync(file, 'utf8')).not.toContain('hunter2')
})

test('a job that fails is a failed span', async () => {
  await cluster.spawned('salt', 'web1', 'test.exception')
  const trace = await traceOf('test.exception', 6)
  for (const name of ['job', 'run', 'return'])
    expect(trace.find((span) => span.name === `${name} test.exception`)?.status.code, name).toBe(2)
})

test('the waves of a batch, which have no client, begin with their publication', async () => {
  const { stdout } = await cluster.spawned('salt', '-b', '1', '--async', '*', 'test.true')
  expect(stdout).toMatch(/\d{20}/)
  await until('both jobs below their publications', () => {
    const all = spans()
    const jobs = all.filter(({ name }) => name === 'job test.true')
    const isBelow = ({ parent, traceId }: Shown) =>
      all.some(
        (span) => span.name === 'publish test.true' && span.spanId === parent && span.traceId === traceId,
      )
    return jobs.length === 2 && jobs.every(isBelow)
  })
})
