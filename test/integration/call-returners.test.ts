/** `salt-call --return`: what counts as written. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadMinionConfig } from '../../core/config/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { returnersOfCall } from '../../core/minion/call-returners.ts'
import { spoolDirectory } from '../../core/minion/paths.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog, spyLog } from '../harness/log.ts'

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

/** Write a returner and return the configuration of a minion that has it. */
async function configWith(name: string, source: string) {
  await mkdir(join(folder, 'returners'))
  await writeFile(join(folder, 'returners', `${name}.mjs`), source)
  await writeFile(
    join(folder, 'minion'),
    `root_dir: ${folder}\nid: m1\nreturner_dirs: [${join(folder, 'returners')}]\n`,
  )
  return loadMinionConfig({ configDir: folder }).config
}

test('a return that a returner has saved does not wait in the outbox, also if the returner cannot be closed', async () => {
  const saved = join(folder, 'saved')
  const config = await configWith(
    'closing',
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
  const save = await returnersOfCall('closing', config, { grains: {}, pillar: {} }, quietLog)
  expect(await save(ret)).toEqual([])
  expect(await readFile(saved, 'utf8')).toBe(ret.jid)
  const spool = ReturnSpool.open(spoolDirectory({ ...config }))
  expect(spool.outbox?.targets()).toEqual([])
  await spool.close()
})

test('secret options of a returner are masked in what it logs and in its errors', async () => {
  const config = await configWith(
    'leaking',
    `import { p, returner } from 'salt-ts'
export default returner({
  options: { password: p.secret(p.default(p.string(), 'open sesame')) },
  create: ({ options: { password }, log }) => ({
    async save() {
      log.warn('Signing in with ' + password)
      throw new Error(password + ' is refused')
    },
  }),
})
`,
  )
  const log = spyLog()
  const save = await returnersOfCall('leaking', config, { grains: {}, pillar: {} }, log)
  expect(await save(ret)).toEqual([
    'The store of the returner leaking does not accept the return: ********** is refused. It waits in the outbox of this minion.',
  ])
  expect(log.warn.mock.calls.flat()).toContain('Signing in with **********')
})

test('a return whose returner cannot be opened in time waits in the outbox', async () => {
  const config = await configWith(
    'opening',
    'export default { options: {}, create: () => new Promise(() => {}) }',
  )
  const settings = { ...config, returner_timeout: 0.05 }
  const save = await returnersOfCall('opening', settings, { grains: {}, pillar: {} }, quietLog)
  expect(await save(ret)).toEqual([
    'The store of the returner opening does not accept the return: Its opening did not finish within 0.05 seconds (returner_timeout). It waits in the outbox of this minion.',
  ])
})
