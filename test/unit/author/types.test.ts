import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')

test('tsc accepts and refuses exactly what the file of types says', async () => {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', path.join(root, 'test/types')])
  const output = await run.then(
    () => '',
    (failure: { stdout: string }) => failure.stdout,
  )
  expect(output).toBe('')
})
