/** What trials showed, as tables. */
import { cpus } from 'node:os'
import { table } from '../bench/table.ts'
import type { Scenario } from './scenarios/scenario.ts'
import type { Trial } from './trial.ts'

const BEGIN = '<!-- figures: written by npm run chaos -- --write -->\n'
const END = '<!-- end of figures -->\n'

const COUNTS = ['pairs', 'returned', 'failed', 'others', 'lost', 'twice'] as const
const HEADS = ['pairs', 'returned', 'failed', 'other named states', 'lost', 'twice', 'seconds']

/** A line for each trial. */
export const lines = (trials: readonly Trial[]): string[] =>
  table([
    ['scenario', 'seed', ...HEADS, 'broken'],
    ...trials.map((trial) => [
      trial.scenario,
      String(trial.seed),
      ...cells([trial]),
      String(trial.broken.length),
    ]),
  ])

/** A line for each scenario, all its seeds together. */
export function figures(trials: readonly Trial[], scenarios: readonly Scenario[]): string {
  const seeds = new Set(trials.map(({ seed }) => seed))
  const rows = scenarios.flatMap(({ name, rows }) => {
    const own = trials.filter(({ scenario }) => scenario === name)
    return own.length > 0 ? [[`\`${name}\``, rows.join(', '), ...cells(own)]] : []
  })
  const head = ['scenario', 'rows', ...HEADS]
  return [
    `Seeds ${[...seeds].join(', ')}; ${cpus().length} cores.`,
    '',
    ...table([head, ...rows, ['all', '', ...cells(trials)]]),
    '',
  ].join('\n')
}

/** Return the page with these figures in the place of those it has. */
export function withFigures(page: string, text: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('The page has no lines between which its figures stand.')
  return `${page.slice(0, begin)}${BEGIN}\n${text}\n${page.slice(end)}`
}

function cells(trials: readonly Trial[]): string[] {
  const sum = (count: (trial: Trial) => number) => trials.reduce((total, trial) => total + count(trial), 0)
  return [
    ...COUNTS.map((name) => String(sum((trial) => trial[name]))),
    sum(({ seconds }) => seconds).toFixed(0),
  ]
}
