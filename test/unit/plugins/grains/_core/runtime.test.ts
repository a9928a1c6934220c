import { mkdir, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

import subject, { localeInfo, serverId } from '../../../../../plugins/grains/_core/runtime.ts'
import { Host } from '../../../../../plugins/grains/_facts/host.ts'
import { abbreviationIn, timeZone } from '../../../../../plugins/grains/_facts/timezone.ts'
import { removeFolder, temporaryFolder } from '../../../../harness/folder.ts'
import { collectFrom } from '../context.ts'

test('the process of the minion is described', async () => {
  const { grains, lines } = await collectFrom(subject, { id: 'm1', master: ['a', 'b'] })
  expect(lines).toEqual([])
  expect(grains).toMatchObject({
    id: 'm1',
    master: ['a', 'b'],
    pid: process.pid,
    cwd: process.cwd(),
    path: process.env.PATH,
    systempath: process.env.PATH?.split(':'),
    uid: os.userInfo().uid,
    username: os.userInfo().username,
    saltversion: expect.stringMatching(/^\d+\.\d+/),
    saltversioninfo: expect.arrayContaining([expect.any(Number)]),
    saltcompat: '3006',
    nodeversion: process.versions.node,
    zmqversion: expect.stringMatching(/^\d/),
    locale_info: expect.objectContaining({ detectedencoding: 'utf-8' }),
  })
})

test('the version of ZeroMQ is the same without a master and before the library is loaded', async () => {
  const { version } = await import('zeromq')
  expect((await collectFrom(subject, { local: true })).grains.zmqversion).toBe(version)
})

// Python: locale.getlocale() after setlocale(LC_ALL, '')
test.each([
  ['', 'en_US', 'UTF-8'],
  ['C', 'en_US', 'UTF-8'],
  ['POSIX', 'en_US', 'UTF-8'],
  ['C.UTF-8', 'en_US', 'UTF-8'],
  ['C.utf8', 'en_US', 'UTF-8'],
  ['de_DE.utf8', 'de_DE', 'UTF-8'],
  ['de_DE.ISO-8859-1@euro', 'de_DE', 'ISO-8859-1'],
])('the locale %j is described as Python describes it', (name, language, encoding) => {
  vi.stubEnv('LC_ALL', name)
  vi.stubEnv('LC_CTYPE', '')
  vi.stubEnv('LANG', '')
  expect(localeInfo('CET')).toEqual({
    defaultlanguage: language,
    defaultencoding: encoding,
    detectedencoding: 'utf-8',
    timezone: 'CET',
  })
  vi.unstubAllEnvs()
})

// Python: abs(int(sha256(id), 16) % 2**31)
test.each([
  ['m1', 890885657],
  ['web1.example.com', 1935464723],
  ['', 2018687061],
])('the server id of %j is the one Python computes', (id, expected) => {
  expect(serverId({ id })).toBe(expected)
})

test.each([
  ['CET-1CEST,M3.5.0,M10.5.0/3', -60, 'CET'],
  ['CET-1CEST,M3.5.0,M10.5.0/3', -120, 'CEST'],
  ['EST5EDT,M3.2.0,M11.1.0', 300, 'EST'],
  ['IST-5:30', -330, 'IST'],
  ['<+03>-3', -180, '+03'],
  ['UTC0', 0, 'UTC'],
  ['', 0, 'unknown'],
])('the rule %j calls the offset %i %j', (rule, offset, name) => {
  expect(abbreviationIn(rule, offset)).toBe(name)
})

test('the time zone is taken from TZ, if it is set', async () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  expect(await timeZone(new Host())).toEqual({
    name: 'Asia/Tokyo',
    abbreviation: expect.stringMatching(/JST|UTC/),
  })
  vi.unstubAllEnvs()
})

test('the configuration is a grain only on request', async () => {
  expect((await collectFrom(subject, { id: 'm1' })).grains).not.toHaveProperty('opts')
  const opts = { id: 'm1', grain_opts: true, append_domain: 'example.com' }
  expect((await collectFrom(subject, opts)).grains).toMatchObject({ opts, append_domain: 'example.com' })
})

test("the version of the system's Python is found without running it", async () => {
  const root = await temporaryFolder('salt-ts-python-')
  await mkdir(join(root, 'usr/bin'), { recursive: true })
  await writeFile(join(root, 'usr/bin/python3.9'), 'no program')
  await symlink('python3.9', join(root, 'usr/bin/python3'))
  const { grains } = await collectFrom(subject, {}, new Host(root))
  expect(grains).toMatchObject({ pythonexecutable: '/usr/bin/python3' })
  expect(grains).not.toHaveProperty('pythonversion') // by which a master knows minions of Python Salt
  await removeFolder(root)
  const without = await collectFrom(subject, {}, new Host(root))
  expect(without.grains).not.toHaveProperty('pythonexecutable')
})
