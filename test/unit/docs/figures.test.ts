import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withFigures, withoutFigures } from '../../bench/readme-figures.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')

test('the figures of the README are those of the bench report', () => {
  expect(readme).toBe(withFigures(readme, read('test/bench/README.md')))
})

test('the README has no other figures of speed or size', () => {
  const figures =
    /\b(\d[\d.,]*|half|third|quarter|fifth|sixth|seventh|eighth|tenth|twice|two|three|four|five|six|seven|eight|nine|ten)( (the|of the|of a))? ?(times|ms|s|MB|GB|%|a second|per second|memory|as (fast|much))(?!\w)/gi
  expect(withoutFigures(readme).match(figures)).toBeNull()
})
