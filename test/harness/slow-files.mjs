// Prints the files of the last test run that took longest, and their slowest cases (`npm run test:slow`).
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const FILES = 30
const CASES = 3

const { testResults } = JSON.parse(readFileSync('test-report.json', 'utf8'))
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`
const files = testResults
  .map(({ name, startTime, endTime, assertionResults }) => ({
    name: relative('.', name),
    ms: endTime - startTime,
    cases: assertionResults.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0)).slice(0, CASES),
  }))
  .sort((a, b) => b.ms - a.ms)
for (const { name, ms, cases } of files.slice(0, FILES)) {
  console.log(`${seconds(ms)}  ${name}`)
  for (const { title, duration } of cases) console.log(`${seconds(duration ?? 0)}    ${title}`)
}
