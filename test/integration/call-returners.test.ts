/** `salt-call --return`: what counts as written. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadMinionConfig } from '../../core/config/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { returnersOfCall } from '../../core/minion/call-returners.ts'
import { spoolDirectory } from '../../core/minion/paths.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => removeFolder(folder))

const ret = {
  jid: '20261129030000000000',
  id: 'm1',
  fun: 'test.ping',
  return: true,
  retcode: 0,
  success: true,
  fun_args: [],
}

test('a return that a returner has saved does not wait in the outbox, also if the returner cannot be closed', async () => {
  const saved = join(folder, 'saved')
  await mkdir(join(folder, 'returners'))
  await writeFile(
    join(folder, 'returners', 'closing.mjs'),
    `import { appendFile } from 'node:fs/promises'
export default {
  options: {},
  create: () => ({
    save: ({ jid }) => appendFile(${JSON.stringify(saved)}, jid),
    async close() { throw new Error('the connection was reset') },
  }),
}
`,
  )
  await writeFile(
    join(folder, 'minion'),
    `root_dir: ${folder}\nid: m1\nreturner_dirs: [${join(folder, 'returners')}]\n`,
  )
  const { config } = loadMinionConfig({ configDir: folder })
  const save = await returnersOfCall('closing', config, { grains: {}, pillar: {} }, quietLog)
  expect(await save(ret)).toEqual([])
  expect(await readFile(saved, 'utf8')).toBe(ret.jid)
  const spool = ReturnSpool.open(spoolDirectory({ ...config }))
  expect(spool.outbox?.targets()).toEqual([])
  await spool.close()
})
