/** A minion that cannot start, or is stopped before it has, leaves nothing open. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadMinionConfig } from '../../core/config/index.ts'
import { openMinion } from '../../core/minion/minion.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { treeOf } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => removeFolder(folder))

async function configured(...lines: string[]) {
  await writeFile(join(folder, 'minion'), [`root_dir: ${folder}`, 'id: m1', ...lines].join('\n'))
  return loadMinionConfig({ configDir: folder }).config
}

test('a minion that fails to open closes all its resources, and fails in the same way when it is opened again', async () => {
  const config = await configured('master: nothing.there', 'master_type: func')
  const children = () => treeOf(process.pid).filter(({ state }) => state !== 'Z').length
  const before = children()
  for (const _ of ['first', 'second'])
    await expect(openMinion(config, quietLog)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(existsSync(join(config.cachedir, '.running'))).toBe(false)
  await until('the job processes to end', () => children() === before)
})
