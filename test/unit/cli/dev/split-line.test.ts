import { expect, test } from 'vitest'
import { splitLine } from '../../../../core/cli/dev/split-line.ts'

test.each([
  ['hello.greet Ada times=2', ['hello.greet', 'Ada', 'times=2']],
  ["  salt  '*'\ttest.ping ", ['salt', '*', 'test.ping']],
  [`cmd.run "echo \\"a b\\"" cwd='/tmp/a b'/c`, ['cmd.run', 'echo "a b"', 'cwd=/tmp/a b/c']],
  [`test.echo "" a\\ b '\\'`, ['test.echo', '', 'a b', '\\']],
  ['', []],
])('%j is split as in a shell', (line, words) => {
  expect(splitLine(line)).toEqual(words)
})

test.each(["test.echo 'a", 'test.echo "a', 'test.echo a\\'])('%j is refused', (line) => {
  expect(() => splitLine(line)).toThrow(/that nothing follows or closes/)
})
