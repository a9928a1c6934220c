import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RootKeys, readRootKey, writeRootKeys } from '../../../core/keys/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'

const me = userInfo().username
let cachedir: string

beforeEach(async () => {
  cachedir = await temporaryFolder('salt-cache-')
})
afterEach(() => removeFolder(cachedir))

const config = (publisher_acl: Record<string, unknown> = {}, user = me) => ({ cachedir, user, publisher_acl })
const fileOf = (user: string) => join(cachedir, `.${user}_key`)

test('the key file of the master has 76 characters and is for its owner only', async () => {
  await writeRootKeys(config())
  expect(readFileSync(fileOf(me), 'utf8')).toMatch(/^[A-Za-z0-9+/]{75}=$/)
  expect(statSync(fileOf(me)).mode & 0o777).toBe(0o600)
})

test('a key stays the same at a start, so that a command that has just read it is not refused', async () => {
  const keys = new RootKeys(config())
  await writeRootKeys(config())
  const key = String(await readRootKey(config(), me))
  await writeRootKeys(config())
  expect(await keys.matches(me, key)).toBe(true)
})

test.each([
  ['that others can read', (file: string) => chmodSync(file, 0o644)],
  ['that is broken', (file: string) => writeFileSync(file, 'half')],
  ['that was removed', (file: string) => rmSync(file)],
])('a key %s is replaced at a start, and no longer accepted', async (_, spoil) => {
  const keys = new RootKeys(config())
  await writeRootKeys(config())
  const old = String(await readRootKey(config(), me))
  spoil(fileOf(me))
  await writeRootKeys(config())
  expect(await keys.matches(me, old)).toBe(false)
  expect(await keys.matches(me, String(await readRootKey(config(), me)))).toBe(true)
  expect(statSync(fileOf(me)).mode & 0o777).toBe(0o600)
})

test('no key matches a missing, empty or broken file, or a name that is a path', async () => {
  const keys = new RootKeys(config())
  expect(await keys.matches('nobody', '')).toBe(false)
  writeFileSync(fileOf('empty'), '')
  expect(await keys.matches('empty', '')).toBe(false)
  expect(await keys.matches('../x', '')).toBe(false)
  expect(await readRootKey(config(), 'a/../b')).toBeUndefined()
})

test('existing users of publisher_acl get a file, others do not', needs(ROOT), async () => {
  await writeRootKeys(config({ daemon: ['test.*'], nosuchuser: ['test.*'], '../evil': ['.*'] }))
  expect(existsSync(fileOf('daemon'))).toBe(true)
  const expected = [...new Set([`.${me}_key`, '.daemon_key'])].sort()
  expect((await readdir(cachedir)).sort()).toEqual(expected)
})

test('each file belongs to its user', needs(ROOT), async () => {
  await writeRootKeys(config({ daemon: ['test.*'] }))
  const daemon = readFileSync('/etc/passwd', 'utf8').match(/^daemon:[^:]*:(\d+)/m)?.[1]
  expect(statSync(fileOf('daemon')).uid).toBe(Number(daemon))
})

test('patterns of publisher_acl include the users they match', needs(ROOT), async () => {
  await writeRootKeys(config({ 'daem*': ['test.*'] }))
  expect(existsSync(fileOf('daemon'))).toBe(true)
})

test('the file of a user who is no longer in publisher_acl is deleted', async () => {
  await writeRootKeys(config({ daemon: ['test.*'] }))
  await writeRootKeys(config())
  expect(existsSync(fileOf('daemon'))).toBe(false)
})

test('a backslash in a name becomes an underscore', async () => {
  writeFileSync(fileOf('DOMAIN_user'), 'text')
  expect(await readRootKey(config(), 'DOMAIN\\user')).toBe('text')
})
