/**
 * `npm run bench:jobs -- [--returns 1000000] [--rounds 5] [--write]`
 *
 * What the runner `jobs.list_jobs` of the compiled product takes with a full job cache: in the runner, and for the whole
 * process. The same number of returns lies in three shapes: many minions each, few, and one.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { JobRow } from '../../core/jobs/job-transfer.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { timeProgram } from './measure.ts'
import { median } from './median.ts'
import { createMasterServices, JobCache, jobCacheDirectory, loadMasterConfig } from './product.ts'

const { values: options } = parseArgs({
  options: {
    returns: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
})
const returns = Number(options.returns)
const rounds = Number(options.rounds)

const MINIONS = [1000, 10, 1]
/** One in so many jobs is of the function that is searched for. */
const RARE = 500
const ROWS_AT_ONCE = 2000

const QUERIES = [
  ['the newest 1000 (no limit given)', {}],
  ['`limit=50`', { limit: 50 }],
  ['`search_function=state.apply` (one job in 500)', { search_function: 'state.apply' }],
  ["`search_function='state.*' search_user=ann`", { search_function: 'state.*', search_user: 'ann' }],
  ['`search_target=web17 limit=50`', { search_target: 'web17', limit: 50 }],
  [
    "`start_time='2026-01-02 00:00' end_time='2026-01-02 00:05'`",
    { start_time: '2026-01-02 00:00', end_time: '2026-01-02 00:05' },
  ],
] as const

const runner = await import(new URL('../../dist/runners/jobs.js', import.meta.url).href)
const saltRun = new URL('../../bin/salt-run', import.meta.url).pathname
const log = { trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error }

/** A job every second from 2026 on. */
const jidOf = (job: number): string =>
  `${new Date(Date.UTC(2026, 0, 1) + job * 1000).toISOString().replace(/\D/g, '')}000`

function* rowsOf(minions: number): Generator<JobRow> {
  const ids = Array.from({ length: minions }, (_, n) => `web${n}.example.com`)
  for (let job = 0; job < returns / minions; job++) {
    const jid = jidOf(job)
    const fun = job % RARE === 0 ? 'state.apply' : 'cmd.run'
    const tgt = minions === 1 ? `web${job % 1000}` : '*'
    const user = job % (10 * RARE) === 0 ? 'ann' : 'root'
    const load = { fun, tgt, tgt_type: 'glob', arg: ['uptime'], user, jid, ret: '', cmd: 'publish' }
    yield { kind: 'job', jid, load, minions: ids }
    const ret = {
      return: ' 10:00:00 up 12 days, load average: 0.1, 0.2, 0.3',
      retcode: 0,
      success: true,
      fun,
      fun_args: ['uptime'],
    }
    for (const id of ids) yield { kind: 'return', jid, id, ret }
  }
}

async function fill(cache: ReturnType<typeof JobCache.open>, minions: number): Promise<void> {
  const rows: JobRow[] = []
  for (const row of rowsOf(minions)) {
    rows.push(row)
    if (rows.length === ROWS_AT_ONCE) await cache.take(rows.splice(0))
  }
  await cache.take(rows)
  await cache.completeIndex()
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  return median(times.slice(1))
}

/** The most memory a program ever held. Megabytes. */
function memoryOf([program, ...args]: readonly string[]): number {
  const tell = "process.on('exit',()=>console.error('rss',process.resourceUsage().maxRSS))"
  const env = { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}` }
  const { stderr } = spawnSync(program as string, args, { encoding: 'utf8', env })
  return Number(/rss (\d+)/.exec(stderr)?.[1]) / 1000
}

const words = (query: object): string[] => Object.entries(query).map(([name, value]) => `${name}=${value}`)

async function measure(minions: number): Promise<string[][]> {
  const root = await temporaryFolder('salt-bench-')
  try {
    const dirs = ['pki', 'cache', 'run', 'log'].map((name) => join(root, name))
    for (const dir of dirs) await mkdir(dir, { mode: 0o700 })
    const [pki_dir, cachedir, sock_dir, logs] = dirs
    const written = { pki_dir, cachedir, sock_dir, log_file: `${logs}/master`, key_logfile: `${logs}/key` }
    await writeFile(join(root, 'master'), JSON.stringify(written))
    const { config } = loadMasterConfig({ configDir: root })
    const cache = JobCache.open(jobCacheDirectory(config))
    await fill(cache, minions)
    const used = (cache.used() / 1e6).toFixed(0)
    const fileSize = ((await stat(JobCache.path(jobCacheDirectory(config)))).size / 1e6).toFixed(0)
    await cache.close()
    const { services, close } = createMasterServices({ config, log, client: async () => Promise.reject() })
    const rows: string[][] = []
    for (const [name, query] of QUERIES) {
      const list = (): Promise<object> =>
        runner.list_jobs.run({ limit: 1000, display_progress: false, ...query }, { master: services })
      const found = Object.keys(await list()).length
      const command = [saltRun, '-c', root, 'jobs.list_jobs', ...words(query), '--out', 'json']
      const whole = await timeOf(async () => timeProgram(command))
      const figures = [await timeOf(list), whole, memoryOf(command)].map((figure) => figure.toFixed(0))
      rows.push([name, String(found), ...figures])
    }
    await close()
    const shape = `${returns / minions} jobs of ${minions} minion${minions > 1 ? 's' : ''}`
    return [[`**${shape}**: file ${fileSize} MB, ${used} MB in use`, '', '', '', ''], ...rows]
  } finally {
    await removeFolder(root)
  }
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  const [head, ...body] = rows
  return [line(head ?? []), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)]
}

const rows: string[][] = [['', 'found', 'in the runner, ms', 'whole process, ms', 'memory, MB']]
for (const minions of MINIONS) rows.push(...(await measure(minions)))
const text = [
  '# Listing jobs',
  '',
  'Written by `npm run bench:jobs -- --write`. `salt-run jobs.list_jobs` on the embedded job cache with',
  `${returns} returns; medians of ${rounds} rounds, ${cpus().length} cores. "Whole process" is from the start of \`salt-run\` to its end.`,
  '',
  ...table(rows),
  '',
].join('\n')
process.stdout.write(text)
if (options.write) await writeFile(new URL('job-cache.md', import.meta.url), text)
