import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failureText } from '../../../../core/cli/dev/load-failure.ts'
import { importFile } from '../../../../core/loader/files/import-file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-failure-')
  await mkdir(join(folder, 'modules'))
})
afterAll(() => removeFolder(folder))

/** The text about a file with these lines. */
async function textAbout(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, 'modules', name)
  await writeFile(path, lines.join('\n'))
  const failure = await importFile({ path, builtIn: false }).then(
    () => new Error('it loaded'),
    (error: unknown) => error,
  )
  return failureText(path, failure, folder)
}

test('a syntax error is shown where the compiler finds it', async () => {
  expect(await textAbout('syntax.ts', '// first', '', 'export const a = = 3', '// last')).toBe(
    [
      'modules/syntax.ts:3:18: SyntaxError: Unexpected "="',
      '    1 | // first',
      '    2 |',
      '  > 3 | export const a = = 3',
      '      |                  ^',
      '    4 | // last',
    ].join('\n'),
  )
})

test('a syntax error of a helper is shown in the helper, and tabs keep the mark at its column', async () => {
  await writeFile(join(folder, 'modules/_broken.ts'), '\texport const b = = 3')
  expect(await textAbout('importer.ts', "import { b } from './_broken.ts'", 'export const a = b')).toBe(
    [
      'modules/_broken.ts:1:19: SyntaxError: Unexpected "="',
      '  > 1 | \texport const b = = 3',
      '      | \t                 ^',
    ].join('\n'),
  )
})

test('an error that a file throws is shown at the first place of the stack in a file of the author', async () => {
  const path = join(folder, 'modules/throws.ts')
  await writeFile(path, 'interface Place { name: string }\n\nexport const name = place.name\n')
  const error = new TypeError('place is undefined')
  error.stack = [
    'TypeError: place is undefined',
    '    at internal (node:internal/modules/esm/module_job:325:25)',
    `    at <anonymous> (${pathToFileURL(path).href}?salt-generation=2:3:21)`,
  ].join('\n')
  const failure = new Error(`${path}: TypeError: place is undefined`, { cause: error })
  expect(failureText(path, failure, folder)).toBe(
    [
      'modules/throws.ts:3:21: TypeError: place is undefined',
      '    1 | interface Place { name: string }',
      '    2 |',
      '  > 3 | export const name = place.name',
      '      |                     ^',
      '    4 |',
    ].join('\n'),
  )
})

test.each([
  ['file.ts', './_nothing.ts', "Cannot find module '"],
  ['package.ts', 'no-such-package', "Cannot find package 'no-such-package'"],
])('in %s the import of %s is shown where it is written', async (name, specifier, reason) => {
  const text = await textAbout(name, "import 'node:fs'", `import { a } from '${specifier}'`, 'export { a }')
  expect(text).toContain(`modules/${name}:2:19: Error: `)
  expect(text).toContain(reason)
  expect(text).toContain(`  > 2 | import { a } from '${specifier}'`)
})

test('an import of a name that a helper does not export is shown where it is written', async () => {
  await writeFile(join(folder, 'modules/_text.ts'), 'export const text = 1')
  const text = await textAbout(
    'name.ts',
    '// first',
    "import { texts } from './_text.ts'",
    'export { texts }',
  )
  expect(text).toContain("modules/name.ts:2:10: SyntaxError: The requested module './_text.ts'")
})

test('an error without a place is shown by its reason alone', () => {
  const path = join(folder, 'modules/elsewhere.ts')
  expect(failureText(path, new Error('did not finish loading'), folder)).toBe(
    'modules/elsewhere.ts: did not finish loading',
  )
})
