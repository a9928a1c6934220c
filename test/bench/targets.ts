/**
 * `npm run bench:targets -- [--minions 5000] [--rounds 7] [--write]`
 *
 * Processor time of the compiled master to find out whom a target means, by what is cached of many minions; beside it
 * the time with all of a minion's grains or pillar decoded for that.
 */
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { median } from './median.ts'
import { cachedMinions, codec, expectedMinions, MinionData, openMatchers } from './product.ts'

const { values: options } = parseArgs({
  options: {
    minions: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '7' },
    write: { type: 'boolean', default: false },
  },
})
const minions = Number(options.minions)
const rounds = Number(options.rounds)

const TARGETS = [
  ['web*', 'glob'],
  ['os:Debian', 'grain'],
  ['os:Deb.*', 'grain_pcre'],
  ['nosuch:x', 'grain'],
  ['site_4:tags:c8', 'grain'],
  ['10.0.0.0/16', 'ipcidr'],
  ['role:web', 'pillar'],
  ['G@os:Debian and web*', 'compound'],
  ['web* and G@os:Debian', 'compound'],
  ['*:r3', 'grain'],
] as const

const KEYS = 150
const words = (count: number, of: string): string[] => Array.from({ length: count }, (_, n) => `${of}${n}`)

/** As many and as large as those of a host with some of its own: lists of flags, texts, small maps. */
function grainsOf(id: string, n: number): Record<string, unknown> {
  const common = {
    id,
    os: n % 3 ? 'Debian' : 'CentOS',
    ipv4: ['127.0.0.1', `10.${(n >> 8) % 256}.${n % 256}.7`],
    ipv6: ['::1', `fe80::${n.toString(16)}`],
    cpu_flags: words(130, 'flag'),
    kernelparams: words(30, 'param').map((name) => [name, `value of ${name}`]),
    mem_total: 64_000 + n,
  }
  const own = words(KEYS - Object.keys(common).length, 'site_').map((name, at) => {
    if (at % 5 === 4) return [name, { rack: `r${n % 40}`, row: at, tags: ['a', `c${n}`] }]
    return [name, at % 3 ? `value ${at} of ${id}` : [`x${at}`, `y${n}`]]
  })
  return { ...common, ...Object.fromEntries(own) }
}

/** Processor time of one evaluation: others may be at work here. Milliseconds. */
function cpuOf(work: () => unknown): number {
  const each = Array.from({ length: rounds + 1 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return median(each.slice(1))
}

function wholeMinions(ids: readonly string[], data: ReturnType<typeof MinionData.open>) {
  return ids.map((id) => ({
    id,
    get grains() {
      return data.grains(id) ?? {}
    },
    get pillar() {
      return data.pillar(id) ?? {}
    },
  }))
}

function report(rows: readonly (readonly string[])[], bytes: number): string {
  const all = [['', 'decoded on demand, ms', 'all decoded, ms', 'ratio'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [
    '# Finding the minions of a target',
    '',
    'Written by `npm run bench:targets -- --write`. Processor time of the master to find the expected minions of a target',
    `among ${minions} minions with ${KEYS} grains (${bytes} bytes) each; medians of ${rounds} rounds, ${cpus().length} cores.`,
    '',
    line(all[0] as string[]),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
    '',
  ].join('\n')
}

const log = { trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error }
const folder = await temporaryFolder('salt-bench-')
const data = MinionData.open(folder)
try {
  const ids = Array.from({ length: minions }, (_, n) => `${n % 2 ? 'web' : 'db'}${n}`)
  await Promise.all(
    ids.map((id, n) =>
      data.save(id, {
        grains: grainsOf(id, n),
        pillar: { role: n % 7 ? 'web' : 'db', users: words(50, 'u') },
      }),
    ),
  )
  const matcher = await openMatchers({}, log)
  const rows = TARGETS.map(([tgt, tgt_type]) => {
    const meant = (subjects: Parameters<typeof expectedMinions>[1]) =>
      expectedMinions({ tgt, tgt_type }, subjects, matcher).minions.length
    const whole = wholeMinions(ids, data)
    if (meant(whole) !== meant(cachedMinions(ids, data))) throw new Error(`${tgt} means others`)
    const [now, all] = [cpuOf(() => meant(cachedMinions(ids, data))), cpuOf(() => meant(whole))]
    return [`${tgt_type} \`${tgt}\``, now.toFixed(0), all.toFixed(0), (now / all).toFixed(2)]
  })
  const text = report(rows, codec.encodeLocal(grainsOf('web1', 1)).length)
  process.stdout.write(text)
  if (options.write) await writeFile(new URL('targets.md', import.meta.url), text)
} finally {
  await data.close()
  await removeFolder(folder)
}
