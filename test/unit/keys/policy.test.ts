import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKeyPolicy, type KeyPolicy, type PolicySettings } from '../../../core/keys/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let directory: string
let warnings: string[]

beforeEach(async () => {
  directory = await temporaryFolder('salt-policy-')
  warnings = []
})
afterEach(() => removeFolder(directory))

function policy(config: Partial<PolicySettings['config']>, others: Partial<PolicySettings> = {}): KeyPolicy {
  const defaults = { auto_accept: false, open_mode: false, max_minions: 0, autosign_timeout: 120 }
  return createKeyPolicy({
    config: { pki_dir: directory, ...defaults, ...config },
    warn: (message) => warnings.push(message),
    ...others,
  })
}

/** A file that only its owner may write, whatever the umask. */
function file(name: string, content: string, mode = 0o644): string {
  const path = join(directory, name)
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o755 })
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

describe('autosign_file', () => {
  const lines = '# comment web9\n\nweb1\n*.example.com\ndb\\d+\n(unclosed\n'

  test.each([
    ['web1', true],
    ['host.example.com', true],
    ['db42', true],
    ['db42x', false],
    ['web11', false],
    ['web9', false],
    ['(unclosed', true],
    ['', false],
  ])('id %j: %s', async (id, expected) => {
    expect(await policy({ autosign_file: file('autosign', lines) }).autoSign({ id })).toBe(
      expected && 'autosign_file',
    )
  })

  test('that other users may write is ignored, with one warning that says what to do', async () => {
    for (const mode of [0o666, 0o664]) {
      const path = file(`autosign${mode}`, '*', mode)
      const one = policy({ autosign_file: path })
      expect(await one.autoSign({ id: 'web1' })).toBe(false)
      expect(await one.autoSign({ id: 'web2' })).toBe(false)
      expect(warnings.splice(0)).toEqual([expect.stringContaining(`chmod go-w ${path}`)])
    }
  })

  test('that is missing accepts no key', async () => {
    expect(await policy({ autosign_file: join(directory, 'none') }).autoSign({ id: 'web1' })).toBe(false)
  })
})

test('autoreject_file is read in the same way', async () => {
  const one = policy({ autoreject_file: file('autoreject', 'evil*\n') })
  expect(await one.autoReject({ id: 'evil1' })).toBe(true)
  expect(await one.autoReject({ id: 'good1' })).toBe(false)
})

test('auto_accept accepts every key', async () => {
  expect(await policy({ auto_accept: true }).autoSign({ id: 'web1' })).toBe('auto_accept')
  expect(await policy({}).autoSign({ id: 'web1' })).toBe(false)
})

describe('a file in minions_autosign', () => {
  test('accepts one key and is deleted', async () => {
    const path = file('minions_autosign/web1', '')
    expect(await policy({}).autoSign({ id: 'web1' })).toBe('minions_autosign')
    expect(existsSync(path)).toBe(false)
    expect(await policy({}).autoSign({ id: 'web1' })).toBe(false)
  })

  test('is used by only one of several workers', async () => {
    file('minions_autosign/web1', '')
    const asked = [policy({}), policy({}), policy({})].map((one) => one.autoSign({ id: 'web1' }))
    expect((await Promise.all(asked)).filter(Boolean)).toEqual(['minions_autosign'])
  })

  test('is ignored after autosign_timeout minutes', async () => {
    const path = file('minions_autosign/web1', '')
    const old = Date.now() / 1000 - 121 * 60
    utimesSync(path, old, old)
    expect(await policy({}).autoSign({ id: 'web1' })).toBe(false)
    expect(await policy({ autosign_timeout: 122 }).autoSign({ id: 'web1' })).toBe('minions_autosign')
  })

  test('is ignored if other users may write the folder', async () => {
    file('minions_autosign/web1', '')
    chmodSync(join(directory, 'minions_autosign'), 0o777)
    expect(await policy({}).autoSign({ id: 'web1' })).toBe(false)
    expect(warnings).toHaveLength(1)
  })
})

describe('autosign_grains_dir', () => {
  const signs = (autosignGrains: Record<string, unknown>) =>
    policy({ autosign_grains_dir: join(directory, 'grains') }).autoSign({ id: 'web1', autosignGrains })

  beforeEach(() => {
    file('grains/uuid', '# ours\n1234\n5678\n')
    file('grains/virtual', 'True\n')
    file('secret', 'anything\n')
  })

  test.each<[Record<string, unknown>, boolean]>([
    [{ uuid: '5678' }, true],
    [{ uuid: 1234 }, true],
    [{ virtual: true }, true],
    [{ uuid: '# ours' }, false],
    [{ uuid: '' }, false],
    [{ other: '1234' }, false],
    [{ '../secret': 'anything' }, false],
    [{ uuid: ['1234'] }, false],
    [{}, false],
  ])('%j: %s', async (grains, expected) => {
    expect(await signs(grains)).toBe(expected && 'autosign_grains_dir')
  })
})

describe('max_minions', () => {
  const connectedIds = async () => ['web1', 'web2']

  test.each([
    ['web3', 2, true],
    ['web1', 2, false],
    ['web3', 3, false],
    ['web3', 0, false],
  ])('%s with a maximum of %i: %s', async (id, max_minions, expected) => {
    expect(await policy({ max_minions }, { connectedIds }).full({ id })).toBe(expected)
  })

  test('is not enforced while the connected minions are unknown', async () => {
    expect(
      await policy({ max_minions: 1 }, { connectedIds: async () => undefined }).full({ id: 'web3' }),
    ).toBe(false)
  })
})
