import { expect, test } from 'vitest'
import { linesOf, textDiff, unifiedDiff } from '../../../../modules/_file/diff.ts'
import { SLOW } from '../../../harness/slow.ts'

const lines = Array.from({ length: 99_000 }, (_, at) => `line ${at}\n`)

test('a long text has the diff of its lines, wherever they differ', SLOW, () => {
  const text = lines.join('')
  const places = [0, 4, lines.length - 4, lines.length - 1]
  const changes = places.flatMap((at) => [
    lines.with(at, 'other\n'),
    lines.toSpliced(at, 1),
    lines.toSpliced(at, 0, 'new\n'),
  ])
  for (const changed of changes) expect(textDiff(text, changed.join(''))).toBe(unifiedDiff(lines, changed))
  for (const changed of [text.slice(0, -1), `${text}x`, `${text}\n`])
    expect(textDiff(text, changed)).toBe(unifiedDiff(lines, linesOf(changed)))
})

test('a line among millions of equal ones is shown alone', SLOW, () => {
  const text = '\n'.repeat(8 * 2 ** 20)
  expect(textDiff(text, text)).toBe('')
  expect(textDiff(text, `y${text}`)).toBe('--- \n+++ \n@@ -1,4 +1,4 @@\n+y\n \n \n \n-\n')
  const last = text.length
  expect(textDiff(text, `${text}y`)).toBe(`--- \n+++ \n@@ -${last - 2},3 +${last - 2},4 @@\n \n \n \n+y`)
})

test('changes of millions of lines are refused with an alternative', SLOW, () => {
  const text = 'a\n'.repeat(2_500_000)
  expect(() => textDiff(text, text.replaceAll('a', 'b'))).toThrow(
    'The changes are too many to show: more than 2000000 lines would have to be compared. Nothing was changed. Call again with show_changes=False, or use file.sed',
  )
})

test('a diff that would take hours shows more changed lines than necessary', SLOW, () => {
  const changed = lines.map((line, at) => (at % 3 === 0 ? `other ${line}` : line))
  const diff = textDiff(lines.join(''), changed.join(''))
  expect(diff.startsWith('--- \n+++ \n@@ -1,')).toBe(true)
  const rows = (sign: string) =>
    linesOf(diff)
      .filter((row) => row.startsWith(sign))
      .map((row) => row.slice(1))
  expect(rows('+').filter((row) => row.startsWith('other'))).toHaveLength(lines.length / 3)
  expect(rows('-').length).toBe(rows('+').length)
})
