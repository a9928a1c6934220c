import { expect, onTestFinished, test, vi } from 'vitest'
import { loadMinionConfig } from '../../../core/config/index.ts'
import { MasterConnections } from '../../../core/minion/link/master-connections.ts'
import { openMinion } from '../../../core/minion/minion.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'

test('a minion that fails to stop its work still frees its cachedir', async () => {
  const folder = await temporaryFolder('salt-ts-minion-')
  onTestFinished(() => removeFolder(folder))
  const overrides = { id: 'm1', root_dir: folder, master_type: 'disable', multiprocessing: false } as const
  const { config } = loadMinionConfig({ configDir: folder, overrides })
  const open = () => openMinion(config, quietLog)
  const minion = await open()
  const unsubscribe = vi.spyOn(MasterConnections.prototype, 'unsubscribe')
  unsubscribe.mockRejectedValueOnce(new Error('The socket is gone.'))
  onTestFinished(() => unsubscribe.mockRestore())
  await expect(minion.close()).rejects.toThrow('The socket is gone.')
  await (await open()).close()
})
