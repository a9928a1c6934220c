import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseLocale, withLocale } from '../../../../modules/_host/locale-gen.ts'
import { renameInFiles } from '../../../../modules/_host/rename-host.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let etc: string
beforeEach(async () => {
  etc = await temporaryFolder('salt-ts-etc-')
})
afterEach(() => removeFolder(etc))
const read = (name: string) => readFile(join(etc, name), 'utf8')

test('a new host name replaces the old one, as a whole word and outside of comments', async () => {
  await writeFile(join(etc, 'hosts'), '127.0.1.1\told old.example # old\n::1 older\n')
  await renameInFiles('old', 'new', 'Debian', etc)
  expect(await read('hosts')).toBe('127.0.1.1\tnew old.example # old\n::1 older\n')
  expect(await read('hostname')).toBe('new\n')
})

test('RedHat has the name in sysconfig, in the quotes it had', async () => {
  await mkdir(join(etc, 'sysconfig'))
  await writeFile(join(etc, 'sysconfig/network'), 'NETWORKING=yes\nHOSTNAME="old"\n')
  await renameInFiles('old', 'new', 'RedHat', etc)
  expect(await read('sysconfig/network')).toBe('NETWORKING=yes\nHOSTNAME="new"\n')
})

test('a locale is named by language, territory, codeset and charmap', () => {
  expect(parseLocale('en_US.UTF-8 UTF-8')).toEqual({ place: 'en_US', codeset: 'UTF-8', charmap: 'UTF-8' })
  expect(parseLocale('de_DE@euro')).toMatchObject({ place: 'de_DE', codeset: '' })
  expect(parseLocale('-x')).toBeUndefined()
  expect(parseLocale('en_US.UTF-8\nother')).toBeUndefined()
})

test('locale.gen gets a locale by removing its comment sign, or as a new line', () => {
  expect(withLocale('# a\n# de_DE.UTF-8 UTF-8  \n', 'de_DE.UTF-8 UTF-8')).toBe('# a\nde_DE.UTF-8 UTF-8\n')
  expect(withLocale('x', 'de_DE.UTF-8 UTF-8')).toBe('x\nde_DE.UTF-8 UTF-8\n')
  expect(withLocale('de_DE.UTF-8 UTF-8\n', 'de_DE.UTF-8 UTF-8')).toBe('de_DE.UTF-8 UTF-8\n')
})
