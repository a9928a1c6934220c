import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'

let folder: string
let file: string
let returner: Returner

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-rawfile-')
  file = join(folder, 'events')
  returner = await returnerWith('rawfile_json', { 'rawfile_json.filename': file })
})
afterEach(() => removeFolder(folder))

test('the next return is not appended to a line that was cut off by a full disk or a killed process', async () => {
  const torn = '{"jid": "2026'
  await writeFile(file, torn)
  await returner.save?.(aReturn({ id: 'web1' }))
  await returner.save?.(aReturn({ id: 'web2' }))
  const [first, ...records] = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(first).toBe(torn)
  expect(records.map((record) => JSON.parse(record).id)).toEqual(['web1', 'web2'])
})

test('a file that cannot be written is named in the error', async () => {
  await mkdir(file)
  await expect(returner.save?.(aReturn())).rejects.toThrow(`The file ${file} cannot be written: EISDIR`)
})
