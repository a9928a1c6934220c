import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-background-')
  const modules = join(folder, 'own')
  await mkdir(join(modules, 'runners'), { recursive: true })
  await writeFile(
    join(modules, 'runners', 'rows.mjs'),
    `import { fn } from 'salt-ts'
     export const some = fn(async function* () { yield 'first'; yield { n: 2 } })
     export const told = fn(async (_, { master }) => { await master.progress({ message: 'half' }); return { retcode: 7 } })`,
  )
  await writeFile(join(folder, 'master'), JSON.stringify({ root_dir: folder, module_dirs: [modules] }))
})
afterAll(() => removeFolder(folder))

const runner = (...words: string[]) => run('salt-run', ['-c', folder, ...words])

test('--async prints the job id alone; the runner continues, and its return is found by the id, without a master', async () => {
  const started = await runner('--async', 'test.arg', '1.10', 'a=2')
  expect([started.code, started.stdout]).toEqual([0, expect.stringMatching(/^\d{20}\n$/)])
  const jid = started.stdout.trim()
  expect(started.stderr).toContain(`salt/run/${jid}`)
  const found = await until('the return', async () => {
    const { stdout, code } = await runner('jobs.lookup_jid', jid, '--out', 'json')
    return code === 0 && Object.keys(JSON.parse(stdout)).length > 0 && JSON.parse(stdout)
  })
  expect(Object.values(found)).toMatchObject([
    { jid, fun: 'runner.test.arg', return: { args: [1.1], kwargs: { a: 2 } }, success: true },
  ])
})

test('--async refuses an invalid call at once', async () => {
  const unknown = await runner('--async', 'manage.statsu')
  expect([unknown.code, unknown.stdout]).toEqual([64, ''])
  expect(unknown.stderr).toContain("'manage.statsu' is not available. Did you mean 'manage.status'?")
  const wrong = await runner('--async', 'test.sleep', 'x')
  expect([wrong.code, wrong.stdout]).toEqual([64, ''])
  expect(wrong.stderr).toContain("'s_time' must be a number")
})

test('with --jid a runner runs under that id, and is looked up by it', async () => {
  const jid = '20261121000000000001'
  expect((await runner('--jid', jid, 'test.arg', '1')).code).toBe(0)
  expect((await runner('jobs.exit_success', jid, '--out', 'json')).stdout).toContain('true')
  expect(await runner('--jid', 'soon', 'test.arg')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('20 digits'),
  })
})

test('progress and rows are printed to standard error, the result to standard output; a map names the exit code', async () => {
  expect(await runner('rows.some', '--out', 'json')).toMatchObject({
    code: 0,
    stderr: 'first\n{"n": 2}\n',
    stdout: expect.stringMatching(/^\[\s+"first",\s+\{\s+"n": 2\s+\}\s+\]\n$/),
  })
  expect(await runner('rows.told')).toMatchObject({ code: 7, stderr: 'half\n' })
  expect(await runner('-q', 'rows.told')).toMatchObject({ code: 7, stderr: '', stdout: '' })
})

test('wheel functions are run by their name, or after the word wheel', async () => {
  expect(await runner('minions.connected', '--out', 'json')).toMatchObject({ code: 0, stdout: '[]\n' })
  expect(await runner('wheel', 'minions.connected', '--out', 'json')).toMatchObject({
    code: 0,
    stdout: '[]\n',
  })
  expect((await runner('-d', 'minions.connected')).stdout).toContain('ids of the connected minions')
  expect((await runner('wheel', '-d')).stdout).toMatch(/^config\.apply:$/m)
  const unknown = await runner('wheel', 'minions.connectd')
  expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringContaining("'minions.connected'?")])
})
