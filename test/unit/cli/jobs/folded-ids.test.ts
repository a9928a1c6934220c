import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldedIds } from '../../../../core/cli/jobs/folded-ids.ts'

const numbered = (from: number, to: number, id: (n: number) => string) =>
  Array.from({ length: to - from + 1 }, (_, n) => id(from + n))
const web = (n: number) => `web${String(n).padStart(2, '0')}`

test.each<[string[], string]>([
  [[], ''],
  [['db1'], 'db1'],
  [[...numbered(1, 40, web), 'web43'], 'web[01-40,43]'],
  [numbered(8, 11, (n) => `web${n}`), 'web[8-11]'],
  [numbered(8, 11, web), 'web[08-11]'],
  [['web1', 'web01', 'web2'], 'web[1,2,01]'],
  [['web2', 'web1', 'web2'], 'web[1,2]'],
  [numbered(1, 3, (n) => `n${n}.dc1.example.com`), 'n[1-3].dc1.example.com'],
  [['n1.dc1', 'n2.dc1', 'n3.dc1', 'n1.dc2'], 'n[1-3].dc1,n1.dc2'],
  [['a,b', 'a1'], '"a,b",a1'],
  [['9', '10', '11'], '[9-11]'],
])('%j is %s', (ids, text) => {
  expect(foldedIds(ids)).toBe(text)
})

const name = fc.oneof(
  fc
    .tuple(fc.constantFrom('web', 'db-', '', 'ü'), fc.nat(30), fc.constantFrom('', '.dc', ',x', '"'))
    .map(String),
  fc
    .tuple(fc.constantFrom('web', 'n'), fc.nat(120), fc.nat(3), fc.constantFrom('', '.example'))
    .map(([before, n, width, after]) => `${before}${String(n).padStart(width, '0')}${after}`),
  fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => `r${a}n${b}`),
)

test('folded ids can be unfolded', () => {
  fc.assert(
    fc.property(
      fc.array(
        name.filter((id) => id !== '' && !/[[\]]/.test(id)),
        { maxLength: 80 },
      ),
      (ids) => {
        expect(unfolded(foldedIds(ids)).sort()).toEqual([...new Set(ids)].sort())
      },
    ),
  )
})

/** Unfold by the rule in the doc comment of {@link foldedIds}. */
function unfolded(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[^,[\]]*(?:\[[^\]]*\][^,[\]]*)?/g) ?? []
  return tokens.filter((token) => token !== '').flatMap(expanded)
}

function expanded(token: string): string[] {
  if (token.startsWith('"')) return [JSON.parse(token)]
  const [, before, list, after] = /^([^[]*)\[(.*)\]([^\]]*)$/.exec(token) ?? []
  if (list === undefined) return [token]
  return list.split(',').flatMap((range) => {
    const [first = '', last = first] = range.split('-')
    const numbers = [first]
    while (numbers.at(-1) !== last) {
      const next = Number(numbers.at(-1)) + 1
      numbers.push(String(next).padStart(first.length, '0'))
    }
    return numbers.map((number) => `${before}${number}${after}`)
  })
}
