import { SaltInvocationError } from 'salt-ts'
import { expect, test } from 'vitest'
import { splitWords } from '../../../../modules/_cmd/split.ts'

// Right-hand sides are what Python's shlex.split gives.
test.each([
  ['ls -l /tmp', ['ls', '-l', '/tmp']],
  ['  a\tb\n c ', ['a', 'b', 'c']],
  [`echo 'a b' "c d"`, ['echo', 'a b', 'c d']],
  [`a"b c"d'e f'`, ['ab cde f']],
  [`'' ""`, ['', '']],
  ['a\\ b \\"', ['a b', '"']],
  [String.raw`"a\"b\\c\d"`, [String.raw`a"b\c\d`]],
  [String.raw`'a\b'`, [String.raw`a\b`]],
  ['a # b', ['a', '#', 'b']],
  ['$HOME *', ['$HOME', '*']],
  ['ä ö', ['ä', 'ö']],
  ['', []],
])('%j is split into %j', (line, words) => {
  expect(splitWords(line)).toEqual(words)
})

test.each(['echo "open', "echo 'open", 'echo \\'])('%j is refused, without being repeated', (line) => {
  expect(() => splitWords(line)).toThrow(SaltInvocationError)
  expect(() => splitWords(line)).toThrow(/^The command line of \d+ characters cannot be split/)
})
