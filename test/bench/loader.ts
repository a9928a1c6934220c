/**
 * `npm run bench:loader`: what the loader costs. Prints a table; `--write` keeps it.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untyped } from '../../core/author/calls.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { createContext, openLoader } from '../../core/loader/index.ts'
import { JobPool } from '../../core/minion/jobs/job-pool.ts'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { median } from './median.ts'

const ROUNDS = 7
const FEW = 10
const MANY = 300
const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function rounds(work: () => Promise<number>): Promise<number> {
  const each: number[] = []
  for (let round = 0; round < ROUNDS; round++) each.push(await work())
  return median(each)
}

/** So many modules of ten functions in a folder. */
async function writeModules(folder: string, count: number): Promise<string> {
  await mkdir(join(folder, 'modules'), { recursive: true })
  const functions = Array.from(
    { length: 10 },
    (_, n) =>
      `/** Number ${n}. */\nexport const f${n} = fn({ a: p.string(), b: p.default(p.integer({ minimum: 0 }), 1) }, ({ a, b }) => a + b)\n`,
  )
  const text = `/** A module. */\nimport { fn, p } from 'salt-ts'\n\n${functions.join('\n')}`
  for (let n = 0; n < count; n++) await writeFile(join(folder, 'modules', `m${n}.ts`), `${text}// ${n}\n`)
  return folder
}

/** Microseconds that finding, binding, checking and running add to a function that is loaded. */
async function loadedCall(folder: string): Promise<number> {
  const loader = openLoader('modules', { config: { module_dirs: [folder] }, log: quiet })
  const context = createContext({} as Parameters<typeof createContext>[0], loader)
  const calls = 10_000
  await context.call(untyped('m1.f1'), ['x', 2])
  const ms = await timed(async () => {
    for (let n = 0; n < calls; n++) await context.call(untyped('m1.f1'), ['x', '2'])
  })
  return (ms / calls) * 1000
}

/** Milliseconds of the first job of a warm process. */
async function firstJob(folder: string, fun: string, arg: readonly unknown[]): Promise<number> {
  const overrides = { id: 'bench', root_dir: folder, module_dirs: [folder] }
  const { config } = loadMinionConfig({ configDir: folder, overrides })
  const facts = () => ({ grains: {}, pillar: {} })
  const pool = new JobPool({ id: 'bench', config, facts, log: quiet, warm: 1 })
  const job = { fun, arg, tgt: '*', jid: '20261121034212345678', ret: '', tgt_type: 'glob' } as const
  const around = {
    services: {},
    master: '',
    started: async () => {},
    shown: async () => {},
    finished: async () => {},
  }
  await new Promise((warm) => setTimeout(warm, 1500))
  const ms = await timed(() => pool.run(job, around as unknown as Parameters<typeof pool.run>[1]))
  pool.close()
  return ms
}

/** Milliseconds from the start of a minion to when it takes jobs. */
async function minionStart(cluster: Cluster, folder: string, id: string): Promise<number> {
  const ms = await timed(() => cluster.addMinion(id, { module_dirs: [folder] }))
  await cluster.minions.get(id)?.stop()
  return ms
}

async function run(): Promise<void> {
  process.execArgv.length = 0 // job processes run without the conditions of this one
  const root = await temporaryFolder('salt-bench-')
  const cluster = await Cluster.open()
  try {
    const few = await writeModules(join(root, 'few'), FEW)
    const many = await writeModules(join(root, 'many'), MANY)
    let minions = 0
    const starts: Record<string, number[]> = { [few]: [], [many]: [] }
    for (let round = 0; round < ROUNDS; round++)
      for (const folder of [few, many])
        starts[folder]?.push(await minionStart(cluster, folder, `web${minions++}`))
    const [startFew, startMany] = [median(starts[few]!), median(starts[many]!)]
    const rows: Row[] = [
      ['call of a loaded function, µs', await loadedCall(few), '< 1000'],
      [
        'first job of a process, built-in function, ms',
        await rounds(() => firstJob(many, 'test.echo', ['x'])),
        '',
      ],
      [
        "first job of a process, a user's .ts file, ms",
        await rounds(() => firstJob(many, 'm7.f1', ['x'])),
        '< 150',
      ],
      [`start of a minion with ${FEW} modules, ms`, startFew, ''],
      [`start of a minion with ${MANY} modules, ms`, startMany, ''],
      ['ratio of the two', startMany / startFew, '< 1.5'],
    ]
    const text = report(rows)
    process.stdout.write(text)
    if (process.argv.includes('--write')) await writeFile(new URL('loader.md', import.meta.url), text)
  } finally {
    await cluster.close()
    await removeFolder(root)
  }
}

type Row = readonly [what: string, value: number, aim: string]

function report(rows: readonly Row[]): string {
  const cells = [
    ['', 'median', 'aim'],
    ...rows.map(([what, value, aim]) => [
      what,
      value < 100 ? value.toFixed(value < 10 ? 2 : 1) : value.toFixed(0),
      aim,
    ]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return `# The loader\n\nWritten by \`npm run bench:loader -- --write\`; medians of ${ROUNDS} rounds, warm processes.\n\n${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`
}

await run()
