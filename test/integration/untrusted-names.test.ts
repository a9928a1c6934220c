/** Names from peers and from untrusted files: none is used as a path, a pattern or a program. */
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isMinionId } from '../../core/base/minion-id.ts'
import { loadMasterConfig } from '../../core/config/index.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster
let minion: Peer

beforeAll(async () => {
  master = await InProcessMaster.open()
  minion = await Peer.named('wire1')
  await master.file('wire1', minion.key.publicKey)
  await minion.signIn((frame) => master.answer(frame))
})
afterAll(() => master?.close())

async function ask(load: Record<string, unknown>): Promise<unknown> {
  const request = minion.seal(load)
  return request.open(await master.answer(request.frame))
}

/** Every file of the master but those of its stores, with its time. */
async function filesOfMaster(): Promise<string[]> {
  const names = await readdir(master.root, { recursive: true })
  const kept = names.filter((name) => !/\.mdb(-lock)?$/.test(name)).sort()
  return Promise.all(kept.map(async (name) => `${name} ${(await stat(join(master.root, name))).mtimeMs}`))
}

const traversals = [
  '../../../../etc/passwd',
  '..',
  '../pki/master.pem',
  '/etc/passwd',
  'a/../../b',
  '..\\..\\x',
  '%2e%2e/x',
  'x\0y',
  '',
  '.',
  '~root',
  'file:///etc/passwd',
  '|../etc/passwd',
  'salt://../x',
  `${'../'.repeat(50)}etc/passwd`,
]

describe('a path or name in a request reaches no file', () => {
  test.each(traversals)('CVE-2024-22232, CVE-2021-25282: of the file server: %j', async (path) => {
    const before = await filesOfMaster()
    for (const saltenv of ['base', path, `base/${path}`]) {
      expect(await ask({ cmd: '_serve_file', path, saltenv, loc: 0 })).toEqual({ data: '', dest: '' })
      expect(await ask({ cmd: '_file_hash', path, saltenv })).toBe('')
      expect(await ask({ cmd: '_file_find', path, saltenv })).toEqual({ path: '', rel: '' })
      expect(await ask({ cmd: '_file_list', saltenv, prefix: path })).toEqual([])
    }
    expect(await filesOfMaster()).toEqual(before)
  })

  test.each(traversals)('CVE-2024-38824: of a file that is pushed: %j', async (path) => {
    const before = await filesOfMaster()
    for (const parts of [path, [path], ['..', '..', '..', 'p'], path.split('/'), [[path]], [5]]) {
      expect(await ask({ cmd: '_file_recv', path: parts, loc: 0, data: 'x', size: 1 })).toBe(false)
    }
    expect(await filesOfMaster()).toEqual(before)
  })

  test.each(traversals)('CVE-2025-22242: of a job: %j', async (jid) => {
    const before = await filesOfMaster()
    await ask({ cmd: 'pub_ret', jid })
    expect(await ask({ cmd: '_return', jid, return: 1, fun: 'test.ping' })).toBeNull()
    expect(await filesOfMaster()).toEqual(before)
    expect(master.events.map(({ tag }) => tag)).toEqual(['salt/auth'])
  })

  test('CVE-2024-22231: of a syndic', async () => {
    const before = await filesOfMaster()
    for (const id of traversals) {
      const entry = { id, jid: '20261120120000123456', fun: 'test.ping', return: { wire2: { return: 1 } } }
      await ask({ cmd: '_syndic_return', load: [entry] })
      await ask({ cmd: '_syndic_return', ...entry })
    }
    expect(await filesOfMaster()).toEqual(before)
    expect([...master.context.jobs.list()]).toEqual([])
  })

  test('CVE-2025-22237: of an external pillar that a minion asks for', async () => {
    const ext = {
      git: ['master ssh://-oProxyCommand=touch\u0024{IFS}/tmp/never/x'],
      cmd_yaml: 'touch /tmp/never',
    }
    const request = minion.seal({ cmd: '_pillar', grains: {}, ext, ver: '2' })
    expect(request.open(await master.answer(request.frame))).toEqual({
      refused: { key: expect.any(Buffer), pillar: expect.any(Buffer) },
    })
  })
})

test('CVE-2025-22238, CVE-2025-22240, CVE-2025-22241: no id leads out of its folder, whatever it is made of', () => {
  const nasty = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '\0',
    '\n',
    '*',
    '%2e',
    '\u202e',
    '\u2215',
    ' ',
    'a',
    'é',
    '-',
    '~',
    '$',
    '`',
  )
  const id = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(nasty).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(id, (name) => {
      if (!isMinionId(name)) return
      expect(resolve('/pki/minions', name)).toBe(`/pki/minions/${name}`)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(253)
      expect(name).not.toMatch(/[\p{Cc}\p{Cf}*?[\]/\\]/u)
    }),
    { numRuns: 20_000, seed: 20261121 },
  )
})

test('CVE-2017-12791: sign-ins under random ids leave only files of valid ids', async () => {
  const folders = () => readdir(master.config.pki_dir, { recursive: true })
  const before = new Set(await folders())
  const ids = fc.sample(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom(...traversals)),
    {
      numRuns: 400,
      seed: 20261121,
    },
  )
  await Promise.all(ids.map((id) => master.answer(minion.signInFrame({ id }))))
  const made = (await folders()).filter((name) => !before.has(name))
  expect(made.length).toBeGreaterThan(50)
  for (const name of made)
    expect(name).toSatisfy(
      (path: string) => path === 'minions_pre' || isMinionId(path.replace('minions_pre/', '')),
    )
})

describe('a configuration file', () => {
  let directory: string
  beforeAll(async () => {
    directory = await temporaryFolder('salt-config-')
  })
  afterAll(() => removeFolder(directory))

  const load = async (text: string) => {
    await writeFile(join(directory, 'master'), text, { mode: 0o600 })
    return loadMasterConfig({ configDir: directory })
  }

  test.each([
    'nodegroups: !!js/function "function () { globalThis.pwned = 1 }"',
    'nodegroups: !!python/object/apply:os.system ["touch /tmp/never"]',
    'nodegroups: !!python/name:os.system',
  ])('CVE-2013-4438, CVE-2025-62348: runs no code: %s', async (text) => {
    await expect(load(text)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('CVE-2013-4438: does not blow up', async () => {
    const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
    for (let n = 1; n < 12; n++)
      bomb.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(',')}]`,
      )
    await expect(load(bomb.join('\n'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('CVE-2021-22004: is not read if other users may write it, or its folder', async () => {
    await load('timeout: 5')
    await chmod(join(directory, 'master'), 0o666)
    expect(() => loadMasterConfig({ configDir: directory })).toThrow(/may write|writable|chmod/)
    await chmod(join(directory, 'master'), 0o600)
    await chmod(directory, 0o777)
    expect(() => loadMasterConfig({ configDir: directory })).toThrow(/may write|writable|chmod/)
    await chmod(directory, 0o700)
  })
})

test('CVE-2013-4437: the master does not write through a planted link', async () => {
  const { symlink, readFile } = await import('node:fs/promises')
  const target = join(master.root, 'target')
  await writeFile(target, 'untouched')
  await mkdir(join(master.config.pki_dir, 'minions_pre'), { recursive: true })
  const digest = () => readFile(target).then((content) => createHash('sha256').update(content).digest('hex'))
  const before = await digest()
  await symlink(target, join(master.config.pki_dir, 'minions_pre', 'linked'))
  await master.answer(minion.signInFrame({ id: 'linked' }))
  expect(await digest()).toBe(before)
})
