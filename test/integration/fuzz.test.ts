/** Every target of the fuzzer on its seeds, the inputs that were findings once, and some more. `npm run fuzz` runs far more. */
import { expect, test } from 'vitest'
import { openTarget, readCorpus, targetNames } from '../fuzz/corpus.ts'
import { fuzz } from '../fuzz/fuzz.ts'

const MADE = 60

test.each(targetNames)('%s', async (name) => {
  const target = await openTarget(name)
  try {
    const corpus = readCorpus(name)
    const cases = target.seeds.length + corpus.length + MADE
    const { findings, ...report } = await fuzz(target, { corpus, cases, seed: 1 })
    expect(findings).toEqual([])
    expect(report.cases).toBe(cases)
  } finally {
    await target.close?.()
  }
})
