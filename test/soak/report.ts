/** The report of a run: as a page, and as a picture. */
import { table } from '../bench/table.ts'
import { type Line, type Point, sheetSvg } from './chart.ts'
import type { Sample, Series } from './samples.ts'
import { longLived, type Verdict, verdictOf } from './verdicts.ts'

export interface Outcome {
  readonly seconds: number
  readonly jobsPerSecond: number
  readonly jobs: number
  readonly returns: number
  readonly events: number
  readonly restarts: number
  /** A sentence for each return that did not come, or was not right. */
  readonly lost: readonly string[]
  /** Why jobs were not published. */
  readonly refused: readonly string[]
  /** Processes of the master that were killed. */
  readonly kills: readonly { readonly name: string; readonly seconds: number }[]
  readonly series: readonly Series[]
}

export const verdictsOf = ({ series, seconds }: Outcome): Verdict[] =>
  longLived(series, seconds).map(verdictOf)

export function resultTable(verdicts: readonly Verdict[]): string[] {
  const head = ['RSS, MB', 'own memory, MB', 'file descriptors', 'threads', 'delay, ms', 'own delay, ms']
  return table([
    ['process', ...head, 'verdict'],
    ...verdicts.map(({ name, figures, complaints, isShort }) => [
      name,
      ...figures,
      complaints.join(', ') || (isShort ? 'too short to tell' : 'steady'),
    ]),
  ])
}

export const summary = ({
  seconds,
  jobs,
  refused,
  returns,
  restarts,
  lost,
  kills,
  events,
}: Outcome): string =>
  `${Math.round(seconds / 60)} minutes, ${jobs} jobs, ${refused.length} not published, ${returns} returns, ${lost.length} lost; ${restarts} restarts of minions, ` +
  `${kills.length} killed processes of the master; ${events} events.`

export const page = (outcome: Outcome, verdicts: readonly Verdict[]): string => `# Steady load

Written by \`npm run soak -- --write\`: a master and four minions on one machine, with ${outcome.jobsPerSecond} jobs a second as far as the machine
keeps up. All minions get \`test.ping\`, \`cmd.run true\`, jobs that return 64 kB and, each 20th, 1 MB, and jobs that fail; one of them
has the master run runners. Two minions are restarted in turns, one every 30 seconds: stopped, or killed with \`kill -9\`.
${killed(outcome)}
The other processes live through the whole run, so that a leak can show.

${summary(outcome)}
A return is lost if it does not come from a minion that was not being restarted.

Figures are those at the start, after the warm-up (the first third) and at the end; those of delays are the median and the greatest.

${resultTable(verdicts).join('\n')}

- Own memory is what would be free without the process. RSS also has pages of files that the kernel keeps while nobody else wants the
  RAM, such as those of the job cache.
- Delay: how late the event loop was at worst in each 5 seconds. Own delay is without the time in which the process was ready to run and
  other processes had the processors.
- A line keeps rising, and the run has failed, if the median of each quarter after the warm-up is above that of the quarter before.

![Lines of each measure over the time of the run](soak.svg)
`

const killed = ({ kills }: Outcome): string =>
  kills.length === 0
    ? ''
    : `In the master, ${kills.map(({ name, seconds }) => `${name} is killed after ${Math.round(seconds / 60)} minutes`).join(', ')}.`

const MEASURES: readonly [keyof Sample, title: string, isLogarithmic?: boolean][] = [
  ['residentMegabytes', 'RSS, MB'],
  ['ownMegabytes', 'Own memory, MB'],
  ['descriptors', 'File descriptors'],
  ['threads', 'Threads'],
  ['delayMs', 'Longest delay of the event loop, ms', true],
  ['ownDelayMs', 'The same without waiting for a processor, ms', true],
]

export function picture({ series, kills }: Outcome): string {
  const names = [...new Set(series.map(({ name }) => name))]
  return sheetSvg({
    title: 'What the processes use over the time of the run',
    charts: MEASURES.map(([measure, title, isLogarithmic]) => ({
      title,
      isLogarithmic: isLogarithmic ?? false,
      lines: names.map((name) => lineOf(name, series, measure)).filter(({ points }) => points.length > 0),
    })),
    legend: names.filter((name) => !/JobProcess|-process|runner/.test(name)),
    others: 'job processes and others',
    xTitle: 'minutes',
    marks: kills.map(({ name, seconds }) => ({ x: seconds / 60, text: `${name} is killed` })),
  })
}

/** Processes of one name are one line, which shows the highest of them. */
const lineOf = (name: string, series: readonly Series[], measure: keyof Sample): Line => ({
  name,
  points: series
    .filter((one) => one.name === name)
    .flatMap(({ samples }) => samples)
    .flatMap((sample): Point[] => {
      const value = sample[measure]
      return value === undefined ? [] : [[sample.seconds / 60, value]]
    })
    .sort(([a], [b]) => a - b),
})
