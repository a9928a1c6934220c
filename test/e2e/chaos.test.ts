/** What becomes of jobs when processes fail: a selection of the scenarios of `npm run chaos`, on one fleet. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scenarios } from '../chaos/scenarios/index.ts'
import { brokenLines, Trials } from '../chaos/trial.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const SEED = 1

const chosen = [
  'kill-supervisor',
  'kill-publisher',
  'publish-without-publisher',
  'kill-workers',
  'kill-minion',
  'kill-jobs',
  'kill-all',
  'stop-worker',
  'restart-all',
  'rotate',
]

let said = ''
const trials = new Trials((_, logs) => {
  said = logs
})
/** Temporary files of others are none that a scenario has left. */
const { TMPDIR } = process.env
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('chaos-')
  process.env.TMPDIR = folder
})
afterAll(async () => {
  await trials.close()
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  await removeFolder(folder)
})

/** Bounds how long a failure takes, as the one of `until` does. */
const LONGEST_MS = 600_000

test.for(scenarios.filter(({ name }) => chosen.includes(name)))(
  '$name',
  { timeout: LONGEST_MS },
  async (scenario) => {
    const trial = await trials.make(scenario, SEED)
    expect(brokenLines(trial), said.slice(-20_000)).toEqual([])
    expect(trial).toMatchObject({ lost: 0, twice: 0 })
    expect(trial.returned).toBeGreaterThan(0)
  },
)

test('all chosen scenarios are there', () => {
  const names = scenarios.map(({ name }) => name)
  expect(chosen.filter((name) => !names.includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})
