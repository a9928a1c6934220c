import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { MinionConfig } from '../../../core/config/index.ts'
import { ReturnSpool } from '../../../core/jobs/return-spool.ts'
import { openStores } from '../../../core/minion/stores.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { spyLog } from '../../harness/log.ts'
import { MOUNTS, needs } from '../../harness/needs.ts'
import { mountSmallDisk } from '../../harness/small-disk.ts'

test(
  'a full disk without the lock file of the spool is named, and nobody is told that no restart is needed',
  needs(MOUNTS),
  async () => {
    const folder = await temporaryFolder('salt-stores-')
    const disk = mountSmallDisk(folder, 8)
    onTestFinished(async () => {
      disk.close()
      await removeFolder(folder)
    })
    const log = spyLog()
    const config = { cachedir: folder } as MinionConfig
    await (await openStores(config, log)).close()
    await rm(join(folder, 'spool', 'returns.mdb-lock'))
    disk.fill()
    await expect(openStores(config, log)).rejects.toThrow(
      `The store ${join(folder, 'spool', 'returns.mdb')} cannot be opened: the disk is full. `,
    )
    expect(log.warn).not.toHaveBeenCalled()
  },
)

test('a start that fails after the spool was opened closes the spool', async () => {
  const folder = await temporaryFolder('salt-stores-')
  onTestFinished(() => removeFolder(folder))
  await writeFile(join(folder, 'proc'), 'not a directory')
  const close = vi.spyOn(ReturnSpool.prototype, 'close')
  onTestFinished(() => close.mockRestore())
  await expect(openStores({ cachedir: folder } as MinionConfig, spyLog())).rejects.toThrow('proc')
  expect(close).toHaveBeenCalledOnce()
})
