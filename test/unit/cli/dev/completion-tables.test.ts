import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CompletionTables } from '../../../../core/cli/dev/completion-tables.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('dev-completion-')
})
afterAll(() => removeFolder(folder))

test('no file is written after they are closed, so that none outlives the command', async () => {
  const cache = join(folder, 'cache')
  const tables = new CompletionTables(cache)
  const writing = [tables.write(folder), tables.write(folder)]
  await tables.close()
  await Promise.all(writing)
  expect(existsSync(cache)).toBe(false)
})
