/** The oracle detects violated invariants. */
import { expect, test } from 'vitest'
import { type Entry, returnOf } from './ledger/entries.ts'
import { brokenBy, type Pair, type Told } from './oracle.ts'

const [jid, id] = ['20261124120000000001', 'm1']
const entry = (what: Entry['what'], at: number): Entry => ({ jid, id, what, at })
const value = returnOf(jid, id, 3)
const stored = { jid, return: value, success: true, retcode: 0 }
const good: Pair = {
  jid,
  id,
  begins: [entry('begin', 1000)],
  ends: [entry('end', 2000)],
  stored,
  announcedAt: 2100,
}
const returned = { id, jid, state: 'returned', jobState: 'returned', why: '', return: value } as const
const told: Told = {
  minions: [id],
  bytes: 3,
  isEnded: true,
  reports: new Map([
    [id, { at: 2200, result: { ...returned, retcode: 0, success: true, fun: 'ledger.work' } }],
  ]),
}

const missing = (why: string, at: number): Told => ({
  ...told,
  reports: new Map([
    [id, { at, result: { id, jid, state: 'missing', jobState: 'unknown', why, reason: why } }],
  ]),
})
const failed = (text: string): Pair => ({
  ...good,
  stored: { ...stored, return: text, success: false, retcode: 1 },
})

test('no invariant is violated by a job that begins, ends and returns once', () => {
  expect(brokenBy(good, told)).toEqual([])
})

test.for<[what: string, invariant: number, pair: Pair, told?: Told]>([
  ['the client was told nothing', 1, good, { ...told, reports: new Map() }],
  ['it began twice', 2, { ...good, begins: [entry('begin', 1), entry('begin', 1000)] }],
  ['it began and did not return', 3, { ...good, stored: undefined, announcedAt: undefined }],
  ['it returned without an end', 4, { ...good, ends: [] }],
  ['it is refused and ran', 4, failed('ERROR: The job was not run. No room.')],
  ['it is failed and ends later', 4, { ...failed('ERROR: lost'), announcedAt: 1500 }],
  ['it is missing and had returned', 4, good, missing('It did not answer.', 9000)],
  [
    'it is missing and runs',
    4,
    { ...good, ends: [entry('end', 9000)], announcedAt: 9100 },
    missing('It answers that it is not running the job', 5000),
  ],
  ['another value is stored', 5, { ...good, stored: { ...stored, return: 'x' } }],
  ['it was announced and is gone', 5, { ...good, stored: undefined }],
])('%s: invariant %i', ([, invariant, pair, client = told]) => {
  expect(brokenBy(pair, client).map((broken) => broken.invariant)).toContain(invariant)
})
