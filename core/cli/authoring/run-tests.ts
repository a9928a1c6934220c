import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { SaltError } from '../../base/errors.ts'
import { codeRoot, fromSource } from '../../process/own-package.ts'
import { exitCodes } from '../exit-codes.ts'

/** Loaded into every test process: hooks for TypeScript, and for `salt-ts` wherever the files are. */
const HOOKS = path.join(codeRoot, 'core', 'cli', 'authoring', fromSource ? 'test-hooks.ts' : 'test-hooks.js')

/** Run the tests below a folder with Node's test runner and return the exit code. */
export async function runTests(folder: string, { watch }: { watch: boolean }): Promise<number> {
  const files = await testFiles(folder)
  if (files.length === 0)
    throw new SaltError('INVOCATION', `There are no tests below ${folder}: no *.test.ts files.`, { folder })
  // tsx enables source maps for stacks; with the flag, Node's runner locates tests by them as well.
  const options = [
    '--enable-source-maps',
    '--import',
    pathToFileURL(HOOKS).href,
    '--test',
    '--test-reporter=spec',
  ]
  const child = spawn(process.execPath, [...options, ...(watch ? ['--watch'] : []), ...files], {
    cwd: folder,
    stdio: 'inherit',
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return signal === 'SIGINT' ? exitCodes.interrupted : (code ?? exitCodes.failed)
}

/** Whether a file has tests, by its name. */
export const isTestFile = (file: string): boolean => /\.(test|spec)\.[cm]?[jt]s$/.test(file)

async function testFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new SaltError('INVOCATION', `The folder ${folder} cannot be read.`, { folder })
  })
  const inside = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
  const found = await Promise.all(
    inside.map((entry) => {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) return testFiles(file)
      return isTestFile(entry.name) ? [file] : []
    }),
  )
  return found.flat().sort()
}
