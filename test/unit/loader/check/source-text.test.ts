import { expect, test } from 'vitest'
import { importsOf } from '../../../../core/loader/check/imports.ts'
import { shellWords } from '../../../../core/loader/check/shell-words.ts'
import { SourceText } from '../../../../core/loader/check/source-text.ts'

/** The dollar sign of an expression in a template literal. */
const $ = '$'

test.each([
  ["call('a') // call('b')\n/* call('c') */", "call(' ')             \n               "],
  ["a = 'it\\'s' + \"x\"", 'a = \'     \' + " "'],
  [`\`a ${$}{b + \`c ${$}{d}\`} e\` + f`, `\`  ${$}{b + \`  ${$}{d}\`}  \` + f`],
  [`\`a ${$}{{ b: 1 }.b} c\`; d`, `\`  ${$}{{ b: 1 }.b}  \`; d`],
  ['x = /[\'"`/]/g.test(y) / 2', 'x = /      /g.test(y) / 2'],
  ['a / b / c', 'a / b / c'],
  ["'open\nnext", "'    \nnext"],
])('of %j only the code stays, at its positions', (text, code) => {
  const source = new SourceText('/a.ts', text)
  expect(source.code.length).toBe(text.length)
  expect(source.code.replace(/\s+$/, '')).toBe(code.replace(/\s+$/, ''))
})

test('strings are read at their positions, and places are counted from 1', () => {
  const source = new SourceText('/a.ts', "const a = 'x'\n  call('y.z')\n")
  const at = source.code.indexOf("'", 20)
  expect(source.stringAt(at)).toBe('y.z')
  expect(source.place(at)).toEqual({ file: '/a.ts', line: 2, column: 8 })
  expect(source.place(-1)).toEqual({ file: '/a.ts', line: 1, column: 1 })
})

test('the top level of a file is what is outside of braces', () => {
  const source = new SourceText('/a.ts', "const f = () => { go() }\nconst text = '{'\ngo()\n{ go() }\n")
  expect(source.place(source.topLevel(/\bgo\(/g)).line).toBe(3)
  expect(source.topLevel(/\bstop\(/g)).toBe(-1)
})

test.each([
  ["salt '*' shop.sell 'two words' n=1", ['salt', '*', 'shop.sell', 'two words', 'n=1']],
  ['salt-call a.b "x \\"y\\"" \\$z | head', ['salt-call', 'a.b', 'x "y"', '$z']],
  ['salt \\* a.b # why', ['salt', '*', 'a.b']],
  ["salt '*' pkg.install <name>", undefined],
  ["salt '*' pkg.install …", undefined],
])('the words of %j are split as in a shell', (line, words) => {
  expect(shellWords(line)).toEqual(words)
})

test('imports are found quickly in a large file with words of import statements', () => {
  const text = `import { a } from './a.ts'\nexport const all = [${'import.meta, '.repeat(30_000)}1]\nexport { b } from './b.ts'\n`
  expect(importsOf(new SourceText('/srv/large.ts', text)).map(({ specifier }) => specifier)).toEqual([
    ...['./a.ts', './b.ts'],
  ])
})
