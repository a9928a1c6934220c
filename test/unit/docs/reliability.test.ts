import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scenarios } from '../../chaos/scenarios/index.ts'

const page = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8')

/** The scenarios that the row of a failure names. */
const namedIn = (row: number): string[] => {
  const line = new RegExp(`^\\| ${row} .*$`, 'm').exec(page)?.[0] ?? ''
  const names = scenarios.map(({ name }) => name)
  return [...line.matchAll(/`([^`]+)`/g)]
    .map(([, name]) => name as string)
    .filter((name) => names.includes(name))
}

test('the table of failures names each scenario in the rows that it covers', () => {
  const wrong = scenarios.filter(({ name, rows }) => !rows.some((row) => namedIn(row).includes(name)))
  expect(wrong.map(({ name }) => name)).toEqual([])
})

test('each scenario in the table covers its row', () => {
  const wrong = Array.from({ length: 27 }, (_, index) => index + 1).flatMap((row) =>
    namedIn(row)
      .filter((name) => !scenarios.find((each) => each.name === name)?.rows.includes(row))
      .map((name) => `${row}: ${name}`),
  )
  expect(wrong).toEqual([])
})
