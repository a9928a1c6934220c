import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { TypeCheck } from '../../../../core/cli/dev/type-check.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { withEnvironment } from '../../../harness/processes.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const packages = fileURLToPath(new URL('../../../../node_modules/', import.meta.url))
/** TypeScript 6, beside its API: version 7.0 sees no changes in containers. */
const compiler = join(packages, '@typescript', 'old')
/** As `bin/tsc` of version 7: it starts the compiler, and waits for it. */
const STARTER = `
import { execFileSync } from 'node:child_process'
execFileSync(process.execPath, ['${compiler}/lib/tsc.js', ...process.argv.slice(2)], { stdio: 'inherit' })
`
const MARK = 'SALT_TEST_TYPE_CHECK'

let folder: string
let types: TypeCheck | undefined
const reports: string[] = []
beforeEach(async () => {
  folder = await temporaryFolder('salt-types-')
})
afterEach(async () => {
  types?.close()
  await removeFolder(folder)
})

const open = () => TypeCheck.open(folder, (text) => reports.push(text))
const save = (name: string, text: string) => writeFile(join(folder, name), text)
const reported = () => until('a report', () => reports.shift())

test('errors are reported, one a line, when they change', SLOW, async () => {
  expect(open()).toBeUndefined()
  await save('tsconfig.json', '{ "compilerOptions": { "lib": ["es5"], "types": [] } }')
  expect(open()).toBeUndefined()
  await mkdir(join(folder, 'node_modules'))
  await symlink(compiler, join(folder, 'node_modules/typescript'))
  await save('one.ts', 'export const one: number = 1\nexport const two: number = "2"\n')
  types = open()
  const error = "one.ts:2:14: TS2322: Type 'string' is not assignable to type 'number'."
  expect(await reported()).toBe(`Types: 1 error.\n${error}`)
  await save('one.ts', 'export const one: number = 1\n')
  expect(await reported()).toBe('Types: no errors.')
})

test('a compiler that is started by another program ends with it', SLOW, async () => {
  vi.stubEnv(MARK, folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  await mkdir(join(folder, 'node_modules/typescript/bin'), { recursive: true })
  await save(
    'node_modules/typescript/package.json',
    '{ "type": "module", "exports": { "./package.json": "./package.json" } }',
  )
  await save('node_modules/typescript/bin/tsc', STARTER)
  await save('tsconfig.json', '{ "compilerOptions": { "lib": ["es5"], "types": [] }, "include": ["*.ts"] }')
  await save('one.ts', 'export const one: number = "1"\n')
  types = open()
  expect(await reported()).toContain('one.ts:1:14: TS2322')
  types?.close()
  await until('the compiler to end', () => withEnvironment(MARK, folder).length === 0)
})
