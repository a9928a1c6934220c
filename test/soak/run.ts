/**
 * `npm run soak -- --minutes 50 [--rate JOBS_PER_SECOND] [--write]`
 *
 * Steady load with restarts; see README.md. Ctrl-C ends the run early, with its report.
 */
import { copyFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { Cluster } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { masterOptions } from './jobs.ts'
import { Listener } from './listener.ts'
import { Load } from './load.ts'
import { pause } from './pause.ts'
import { type Outcome, page, picture, resultTable, summary, verdictsOf } from './report.ts'
import { Restarts } from './restarts.ts'
import { Samples, type Watched } from './samples.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '50' },
    rate: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
})
const minutes = Number(options.minutes)
const jobsPerSecond = Number(options.rate)
if (!(minutes > 0 && jobsPerSecond > 0)) throw new Error('--minutes and --rate are numbers above 0.')

const STEADY = ['steady-1', 'steady-2']
const RESTARTED = ['restarted-1', 'restarted-2']
const SAMPLE_MS = 5000
/** Jobs leave the store after two minutes, so that it has its full size before the warm-up of a short run is over. */
const KEEP_JOBS_SECONDS = 120
/** At which share of the run; early, so that also the publisher that comes then lives for more than half of it. */
const KILLS = { publisher: 1 / 4, 'MWorker-1': 1 / 2 }
/** With a job every other second, the bus is never so long without an event, not even on a busy machine. */
const MOST_SILENT_MS = 60_000
/** Share of the jobs that may not get published, as each refusal is told: a busy machine may take longer than clients wait. */
const MOST_REFUSED = 0.01

const over = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())

const metricsPort = await freePort()
const cluster = await Cluster.open({
  master: {
    metrics_port: metricsPort,
    worker_threads: 2,
    keep_jobs_seconds: KEEP_JOBS_SECONDS,
    loop_interval: 10,
    ...masterOptions,
  },
})
try {
  const outcome = await soak(await startMinions())
  const verdicts = verdictsOf(outcome)
  const picturePath = 'soak.svg'
  await writeFile(picturePath, picture(outcome))
  await writeFile('soak.json', `${JSON.stringify({ ...outcome, verdicts })}\n`)
  for (const line of [...resultTable(verdicts), summary(outcome)]) console.log(line)
  if (options.write) {
    const docs = new URL('../../docs/', import.meta.url)
    await writeFile(new URL('soak.md', docs), page(outcome, verdicts))
    await copyFile(picturePath, new URL('soak.svg', docs))
  }
  const isWrong =
    outcome.lost.length > 0 ||
    outcome.refused.length > outcome.jobs * MOST_REFUSED ||
    verdicts.some(({ complaints }) => complaints.length > 0)
  process.exitCode = isWrong ? 1 : 0
} finally {
  await cluster.close()
}

async function startMinions(): Promise<Watched[]> {
  const minions = await Promise.all(
    [...STEADY, ...RESTARTED].map(async (name): Promise<Watched> => {
      const port = await freePort()
      return { name, daemon: await cluster.addMinion(name, { metrics_port: port }), metricsPort: port }
    }),
  )
  return [{ name: 'master', daemon: cluster.master, metricsPort }, ...minions]
}

async function soak(watched: readonly Watched[]): Promise<Outcome> {
  const start = performance.now()
  const secondsSoFar = () => (performance.now() - start) / 1000
  const lengthMs = minutes * 60_000
  const end = setTimeout(() => over.abort(), lengthMs)
  const client = await cluster.client()
  const bus = await cluster.events()
  const listener = new Listener(bus)
  const samples = new Samples(watched)
  const restarts = new Restarts(cluster)
  const kills: { name: string; seconds: number }[] = []
  const load = new Load({ client, minions: [...STEADY, ...RESTARTED], restarts, jobsPerSecond })

  const sampling = async () => {
    for (let at = start; !over.signal.aborted; at += SAMPLE_MS) {
      await samples.take()
      await pause(at + SAMPLE_MS - performance.now(), over.signal)
    }
  }
  const killing = async ([name, share]: readonly [string, number]) => {
    await pause(share * lengthMs, over.signal)
    if (over.signal.aborted) return
    await restarts.killChild(name)
    kills.push({ name, seconds: secondsSoFar() })
  }
  const progress = setInterval(() => {
    process.stderr.write(`${secondsSoFar().toFixed(0)} s: ${load.published} jobs, ${load.returns} returns\n`)
  }, 60_000)
  try {
    await Promise.all([
      load.run(over.signal),
      restarts.restart(RESTARTED, over.signal),
      sampling(),
      ...Object.entries(KILLS).map(killing),
    ])
    const isDeaf = listener.silentMs > MOST_SILENT_MS
    return {
      seconds: secondsSoFar(),
      jobsPerSecond,
      jobs: load.published,
      returns: load.returns,
      events: listener.heard,
      restarts: restarts.count,
      refused: load.refused,
      lost: [...load.lost, ...(isDeaf ? ['The listener does not hear events any more.'] : [])],
      kills,
      series: samples.series,
    }
  } finally {
    over.abort()
    clearTimeout(end)
    clearInterval(progress)
    await bus.close()
    await client.close()
  }
}
