import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { localFileServer } from '../../../core/fileserver/index.ts'
import { createFileServices } from '../../../core/minion/files.ts'
import { FileRoots } from '../../harness/file-roots.ts'
import { quietLog } from '../../harness/log.ts'

let roots: FileRoots
beforeEach(async () => {
  roots = await FileRoots.make()
})
afterEach(() => roots.remove())

test('synced files are loaded even if another one was not copied', async () => {
  for (const name of ['a', 'b']) await roots.write(`salt/_modules/${name}.js`, 'export const f = () => 1\n')
  const config = roots.config({
    extension_modules: join(roots.folder, 'extmods'),
    file_client: 'remote',
  }) as never
  const log = quietLog
  const master = localFileServer(config, log)
  const refresh = { refreshModules: vi.fn(async () => {}), refreshGrains: vi.fn(async () => {}) }
  const { sync } = createFileServices({
    config,
    grains: {},
    log,
    unseen: true,
    request: async (load) => (load.path === '_modules/a.js' ? '' : master.ask(load)),
    ...refresh,
  })
  const { modules } = await sync({ types: ['modules'] })
  expect(modules).toMatchObject({ added: ['modules.b'], failed: { 'modules.a': expect.any(String) } })
  expect(refresh.refreshModules).toHaveBeenCalledOnce()
})
