import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collectGrains } from '../../../../core/loader/offer/collect-grains.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { spyLog } from '../../../harness/log.ts'

process.execArgv.length = 0 // what loads files runs what was built, without the test runner's conditions

const log = spyLog()
let directory: string
beforeEach(async () => {
  directory = await temporaryFolder('salt-grains-')
  await writeFile(
    join(directory, 'site.js'),
    "export default { collect: async () => ({ site: { floor: 1, doors: [1] }, secret: 'x' }) }\n",
  )
})
afterEach(() => removeFolder(directory))

const collect = (options: Record<string, unknown>) =>
  collectGrains(
    {
      id: 'web1',
      grains_dirs: [directory],
      config_dir: directory,
      grains: { site: { floor: 2, doors: [2] } },
      ...options,
    },
    log,
  )

test('grains of the configuration override those of the same name', async () => {
  expect(await collect({})).toMatchObject({ kernel: 'Linux', site: { floor: 2, doors: [2] }, secret: 'x' })
})

test('with grains_deep_merge maps and lists are merged', async () => {
  expect((await collect({ grains_deep_merge: true })).site).toEqual({ floor: 2, doors: [1, 2] })
})

test('grains_blacklist removes grains by shell pattern', async () => {
  const names = Object.keys(await collect({ grains_blacklist: ['sec*', 'os?*'] }))
  expect(names).not.toContain('secret')
  expect(names).not.toContain('os_family')
  expect(names).toContain('os')
})

test.each(['for (;;);', 'process.exit(3)'])(
  'a file that would block the start of the minion (%s) is named and skipped',
  async (line) => {
    const file = join(directory, 'bad.js')
    await writeFile(file, `${line}\n`)
    const options = { id: 'web1', grains_dirs: [directory], config_dir: directory }
    expect(await collectGrains(options, log, { timeoutMs: 2000 })).toMatchObject({
      kernel: 'Linux',
      secret: 'x',
    })
    expect(log.error).toHaveBeenCalledWith(expect.stringMatching(`${file}: .* while it was loaded`))
  },
)

test('a source that never returns its grains is named and skipped', async () => {
  await writeFile(
    join(directory, 'mute.js'),
    'export default { collect: () => new Promise(() => { setInterval(() => {}, 1000).unref() }) }\n',
  )
  const options = { id: 'web1', grains_dirs: [directory], config_dir: directory }
  expect(await collectGrains(options, log, { timeoutMs: 2000 })).toMatchObject({
    kernel: 'Linux',
    secret: 'x',
  })
  expect(log.error).toHaveBeenCalledWith(
    'The grains source mute failed and was skipped: it returned no grains within 2 s',
  )
})

test('a grain that cannot be sent, and a source that returns no map, are left out and named', async () => {
  await writeFile(
    join(directory, 'half.js'),
    'export default { collect: () => ({ rack: 7, f: { g: () => 1 } }) }\n',
  )
  await writeFile(join(directory, 'text.js'), "export default { collect: () => 'rack' }\n")
  const grains = await collect({})
  expect(grains).toMatchObject({ rack: 7, secret: 'x' })
  expect(grains).not.toHaveProperty('f')
  expect(grains).not.toHaveProperty('0')
  expect(log.error).toHaveBeenCalledWith(
    'A grain of the grains source half was left out: The value cannot be encoded: f.g is a function.',
  )
  expect(log.error).toHaveBeenCalledWith(
    'The grains source text failed and was skipped: its collect() returned text instead of a map of grains by name.',
  )
})
