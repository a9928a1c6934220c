import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LineCompletion } from '../../../../core/cli/dev/completion.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('dev-completion-')
})
afterAll(() => removeFolder(folder))

test('writes no tables once it is closed, so that nothing outlives the command', async () => {
  const cache = join(folder, 'cache')
  const completion = new LineCompletion(cache)
  completion.refresh(folder)
  completion.refresh(folder)
  await completion.close()
  completion.refresh(folder) // the fleet has loaded its files while it ends
  await completion.close()
  expect(existsSync(cache)).toBe(false)
})
