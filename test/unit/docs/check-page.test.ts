import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rules } from '../../../core/loader/check/rules.ts'

test('the page of salt-ts check lists each rule with its severity', () => {
  const page = readFileSync(new URL('../../../docs/check.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| (error|warning|note) /gm)]
  const told = Object.fromEntries(rows.map(([, rule = '', severity]) => [rule, severity]))
  expect(told).toEqual(
    Object.fromEntries(Object.entries(rules).map(([rule, { severity }]) => [rule, severity])),
  )
})
