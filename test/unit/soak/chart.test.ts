import { expect, test } from 'vitest'
import { type Sheet, sheetSvg } from '../../soak/chart.ts'

const sheet = (points: readonly (readonly [number, number])[], isLogarithmic = false): Sheet => ({
  title: 'All of it',
  charts: [
    { title: 'Memory, MB', lines: [{ name: 'web <1>', points }], isLogarithmic },
    { title: 'Threads', lines: [{ name: 'a job', points }] },
  ],
  legend: ['web <1>'],
  others: 'others',
  xTitle: 'minutes',
  marks: [{ x: 2, text: 'killed' }],
})
/** Of the lines: the last `d` of each panel but its axes. */
const paths = (svg: string) =>
  [...svg.matchAll(/ d="(M[^"]*)" fill="none" stroke="#\w+" stroke-width/g)].map(([, d]) => d)

test('each chart has its title, its lines, and marks; the legend names the colours', () => {
  const svg = sheetSvg(
    sheet([
      [0, 0],
      [5, 50],
      [10, 100],
    ]),
  )
  expect(paths(svg)).toHaveLength(2)
  for (const text of ['Memory, MB', 'Threads', 'web &lt;1&gt;', 'others', 'minutes', 'killed'])
    expect(svg).toContain(`>${text}</text>`)
  expect(svg.split('<g ')).toHaveLength(svg.split('</g>').length)
})

test('the greatest value is at the top of a linear axis, and half of it in the middle', () => {
  const [path] = paths(
    sheetSvg(
      sheet([
        [0, 0],
        [5, 50],
        [10, 100],
      ]),
    ),
  )
  expect(path).toBe('M56 190L256 110L456 30')
})

test('tenfold values are equally far apart on a logarithmic axis', () => {
  const [path] = paths(
    sheetSvg(
      sheet(
        [
          [0, 0.2],
          [5, 10],
          [10, 100],
        ],
        true,
      ),
    ),
  )
  expect(path).toBe('M56 190L256 110L456 30')
})

test('a long line keeps its peaks, and few points', () => {
  const peak = 700
  const points = Array.from({ length: 1000 }, (_, x) => [x, x === peak ? 100 : 1] as const)
  const [path = ''] = paths(sheetSvg(sheet(points)))
  expect(path.split('L').length).toBeLessThan(200)
  expect(path).toContain(' 30')
})
