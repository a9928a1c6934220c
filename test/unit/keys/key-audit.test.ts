import { mkdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeyAudit } from '../../../core/keys/key-audit.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const ids = Array.from({ length: 50 }, (_, place) => `web${place}`)
const entry = (id: string) => ({ act: 'accept', id, by: 'sign-in' }) as const

let folder: string
let path: string
let problems: string[]
let audit: KeyAudit

beforeEach(async () => {
  folder = await temporaryFolder('key-audit-')
  path = join(folder, 'audit', 'keys.log')
  problems = []
  audit = new KeyAudit(
    path,
    { user: 'root' },
    (problem) => problems.push(problem),
    async () => {},
  )
})
afterEach(() => removeFolder(folder))

const idsInLog = async () =>
  (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id)

test('changes of many keys at once are in the log when their promises resolve, in order', async () => {
  await Promise.all(
    ids.map(async (id) => {
      await audit.record([entry(id), { ...entry(id), act: 'delete' }])
      expect((await idsInLog()).filter((one) => one === id)).toHaveLength(2)
    }),
  )
  expect(await idsInLog()).toEqual(ids.flatMap((id) => [id, id]))
  expect(problems).toEqual([])
})

test('a log that cannot be written is reported for each change, and written again as soon as it can be', async () => {
  await mkdir(path, { recursive: true })
  await Promise.all(ids.map((id) => audit.record([entry(id)])))
  expect(problems.map((problem) => /: accept (\w+): /.exec(problem)?.[1])).toEqual(ids)
  await rmdir(path)
  await audit.record([entry('web1')])
  expect(await idsInLog()).toEqual(['web1'])
})
