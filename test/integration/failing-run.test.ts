/** A runner in a process of its own whose result cannot be recorded. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadMasterConfig } from '../../core/config/index.ts'
import { startRun } from '../../core/runs/background.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

test('a runner whose result cannot be recorded ends with the reason, and leaves no process', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => removeFolder(folder))
  await writeFile(join(folder, 'master'), `root_dir: ${folder}\n`)
  const { config } = loadMasterConfig({ configDir: folder })
  const about = { kind: 'runner', jid: '20261129030000000000', fun: 'test.sleep', user: 'ann' } as const
  const { end, gone } = await startRun({ ...about, args: [0.5], kwargs: {}, config })
  const proc = join(config.cachedir, 'proc')
  await until('the record of the run', () =>
    rm(proc, { recursive: true }).then(
      () => true,
      () => false,
    ),
  )
  await writeFile(proc, 'no folder')
  expect(await end).toMatchObject({ success: false, return: expect.stringContaining(proc) })
  await gone
})
