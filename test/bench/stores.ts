/**
 * `npm run bench:stores -- [--rate 8000] [--seconds 60] [--minions 300] [--jobs 20] [--rounds 3] [--waiting 1000000] [--write]`
 *
 * How fast the compiled master brings events and returns to real stores: `event_return: postgres` with more events than it
 * can take; `master_job_cache` with each store beside the embedded one alone; and a master that starts with a million
 * records that wait for a store that is away.
 */
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { type BacklogFigures, measureBacklog } from './backlog.ts'
import { type EventFigures, measureEvents } from './event-return.ts'
import { measureStores } from './job-stores.ts'
import type { Measured } from './measure.ts'
import { median } from './median.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '8000' },
    seconds: { type: 'string', default: '60' },
    minions: { type: 'string', default: '300' },
    jobs: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '350' },
    'at-once': { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '1000000' },
    write: { type: 'boolean', default: false },
  },
})
const [rate, seconds, waiting] = [Number(options.rate), Number(options.seconds), Number(options.waiting)]
const load = {
  minions: Number(options.minions),
  jobs: Number(options.jobs),
  bytes: Number(options.bytes),
  atOnce: Number(options['at-once']),
  rounds: Number(options.rounds),
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0)

function aboutEvents({ sustained, overall, masterCpu, storeCpu, moments }: EventFigures): string[] {
  const shown = moments.filter((_, n) => n % Math.ceil(moments.length / 12) === 0)
  const returner = (at: (typeof moments)[number]) => at.usages.find(({ name }) => name.endsWith('returner'))
  return [
    '## Events: `event_return: postgres`',
    '',
    `${rate} events a second of 320 characters and ten fields, fired for ${seconds} s by a process of its own onto the event bus of`,
    `the master. All ${rate * seconds} were in the table in the end, each once and as it was fired.`,
    '',
    ...table([
      ['', '', 'aim'],
      ['rows per second while events were fired', sustained.toFixed(0), '≥ 5000'],
      ['rows per second until the last was there', overall.toFixed(0), ''],
      ['processor time of the master for each, µs', masterCpu.toFixed(0), ''],
      ['processor time of PostgreSQL for each, µs', storeCpu.toFixed(0), ''],
    ]),
    '',
    ...table([
      ['s', 'fired', 'rows', 'on their way', 'RSS of the returner process, MB'],
      ...shown.map((at) => [
        at.seconds.toFixed(0),
        String(at.fired),
        String(at.rows),
        String(at.fired - at.rows),
        megabytes(returner(at)?.residentBytes ?? 0),
      ]),
    ]),
  ]
}

function aboutReturns(measured: readonly Measured[]): string[] {
  const of = ({ figures }: Measured, figure: string) => median(figures.get(figure) ?? [])
  const embedded = measured[0] as Measured
  const text = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(0))
  return [
    '## Returns: `master_job_cache`',
    '',
    `${load.jobs} jobs of which each of ${load.minions} simulated minions returns ${load.bytes} bytes, ${load.atOnce} at once; medians of ${load.rounds} rounds in`,
    'turns. The embedded store is always there: the others get what it gets. Processor time counts until all rows are there.',
    '',
    ...table([
      ['', ...measured.map(({ master }) => master.name), 'aim'],
      ['durable returns per second', ...measured.map((one) => text(of(one, 'returns'))), ''],
      [
        'ratio to the embedded store alone',
        ...measured.map((one) => (of(one, 'returns') / of(embedded, 'returns')).toFixed(2)),
        'redis ≥ 0.75',
      ],
      [
        'processor time of the master per return, µs',
        ...measured.map((one) => text(of(one, 'return cpu'))),
        '',
      ],
      [
        'from the last acknowledgement to the last row, ms',
        ...measured.map((one) => text(of(one, 'behind'))),
        '',
      ],
      ['from a single return to its row, ms', ...measured.map((one) => text(of(one, 'delay'))), ''],
    ]),
  ]
}

function aboutBacklog({ ready, status, resident, peak, rate }: BacklogFigures): string[] {
  return [
    '## A store that is away for a day',
    '',
    `A master starts with ${waiting} events that wait for a store that is not there.`,
    '',
    ...table([
      ['', '', 'aim'],
      ['from its start to ready, ms', ready.toFixed(0), ''],
      ['RSS of the returner process after 10 s, MB', megabytes(resident), ''],
      ['at most, MB', megabytes(peak), ''],
      ['`returner.status`, how long it takes to look, ms', status.toFixed(0), '< 200'],
      ['records put in per second when it was filled', rate.toFixed(0), ''],
    ]),
  ]
}

const machine = `${cpus().length} cores, load at the start ${loadavg()[0]?.toFixed(1)}`
const events = await measureEvents(rate, seconds)
const returns = await measureStores(['redis', 'postgres', 'mysql'], load)
const backlog = await measureBacklog(waiting)
const text = [
  '# External stores',
  '',
  `Written by \`npm run bench:stores -- --write\`; ${machine}.`,
  '',
  ...aboutEvents(events),
  '',
  ...aboutReturns(returns),
  '',
  ...aboutBacklog(backlog),
  '',
].join('\n')
process.stdout.write(text)
if (options.write) await writeFile(new URL('stores.md', import.meta.url), text)
