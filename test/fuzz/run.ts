/** `npm run fuzz -- --target NAME --cases N --seed N --minutes M`; without a target, all of them. */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { keepInput, openTarget, readCorpus, targetNames } from './corpus.ts'
import { type Finding, fuzz, type Report } from './fuzz.ts'

const { values: given } = parseArgs({
  options: {
    target: { type: 'string', multiple: true },
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    outcomes: { type: 'boolean', default: false },
  },
})
const names = given.target ?? targetNames
const unknown = names.filter((name) => !targetNames.includes(name))
if (unknown.length > 0) throw new Error(`There is no target ${unknown}. There are ${targetNames.join(', ')}.`)
const seed = Number(given.seed ?? Math.floor(Math.random() * 2 ** 31))

/** Longest time without an answer; a thread watches it, since an endless loop ends for nobody in this one. */
const ENDLESS_MS = 300_000
const MAX_WATCHED_BYTES = 64 * 1024

/** Start the thread that watches a target. Returns a function to be called with every input, and one to end it. */
function watch(name: string) {
  const shared = new SharedArrayBuffer(8 + MAX_WATCHED_BYTES)
  const [count, length, bytes] = [
    new Int32Array(shared, 0, 1),
    new Int32Array(shared, 4, 1),
    new Uint8Array(shared, 8),
  ]
  const folder = fileURLToPath(new URL(`corpus/${name}`, import.meta.url))
  const workerData = { shared, folder, patienceMs: ENDLESS_MS }
  const thread = new Worker(new URL('watchdog.mjs', import.meta.url), { workerData, execArgv: [] })
  thread.unref()
  const onInput = (input: Buffer) => {
    length[0] = Math.min(input.length, MAX_WATCHED_BYTES)
    bytes.set(input.subarray(0, MAX_WATCHED_BYTES))
    Atomics.add(count, 0, 1)
  }
  return { onInput, end: () => thread.terminate() }
}

async function fuzzed(name: string): Promise<Report> {
  const watched = watch(name)
  const target = await openTarget(name)
  const deadline =
    given.minutes === undefined ? undefined : performance.now() + Number(given.minutes) * 60_000
  try {
    const plan = { corpus: readCorpus(name), cases: Number(given.cases), seed, onInput: watched.onInput }
    return await fuzz(target, { ...plan, ...(deadline !== undefined && { deadline }) })
  } finally {
    await target.close?.()
    await watched.end()
  }
}

function tell(name: string, { problem, input }: Finding): void {
  const path = relative('.', keepInput(name, input))
  console.error(`\nFinding of ${name}: ${inspect(problem)}`)
  console.error(`The input is in ${path}; repeat it with: npm run fuzz -- --target ${name} --cases 0\n`)
}

const shownRow = (cells: readonly (string | number)[]) =>
  console.log(
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(18) : String(cell).padStart(10))).join(''),
  )

console.log(`seed ${seed}`)
shownRow(['target', 'cases', 'outcomes', 'findings', 'seconds'])
for (const name of names) {
  const { cases, outcomes, findings, seconds } = await fuzzed(name)
  for (const finding of findings) tell(name, finding)
  shownRow([name, cases, outcomes.size, findings.length, seconds.toFixed(1)])
  if (given.outcomes) for (const [kind, count] of [...outcomes].sort()) console.log(`  ${kind}: ${count}`)
  if (findings.length > 0) process.exitCode = 1
}
