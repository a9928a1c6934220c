import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuthBackend } from '../../../core/author/auth.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { openLoader } from '../../../core/loader/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'
import { SLOW } from '../../harness/slow.ts'

const readme = new URL('../../../docs/eauth-backends.md', import.meta.url)

describe('the page about the backends', () => {
  let folder: string
  let text: string
  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-own-auth-')
    text = await readFile(readme, 'utf8')
  })
  afterAll(() => removeFolder(folder))
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block)

  test('has an example of a backend in ten lines that works', SLOW, async () => {
    const [source = ''] = blocks('ts')
    expect(source.slice(source.indexOf('export')).trim().split('\n').length).toBeLessThanOrEqual(10)
    await writeFile(join(folder, 'passphrases.ts'), source)
    const log = quietLog
    const loader = openLoader('auth', { config: { auth_dirs: [folder] }, log })
    const backend = await loader.plugin<AuthBackend>('passphrases')
    const { signal } = new AbortController()
    const settings = { passphrases: { fred: 'correct horse' } }
    const ask = (username: unknown, password: unknown) =>
      backend.authenticate({ username, password }, { opts: {}, settings, log, signal })
    expect(await ask('fred', 'correct horse')).toEqual({ name: 'fred', groups: ['known'] })
    for (const [username, password] of [
      ['fred', 'wrong'],
      ['ada', undefined],
      ['__proto__', ''],
      [['fred'], ['correct horse']],
    ])
      expect(await ask(username, password)).toEqual({ refused: 'another passphrase' })
  })

  test('has examples of configuration that load without a warning', async () => {
    for (const example of blocks('yaml')) {
      await writeFile(join(folder, 'master'), example, { mode: 0o600 })
      expect(loadMasterConfig({ configDir: folder }).warnings).toEqual([])
    }
  })

  test('has every backend that there is, and no other', async () => {
    const names = await openLoader('auth', { config: {}, log: quietLog }).pluginNames()
    const shown = [...text.matchAll(/^\| \[([\w, ]+)\]/gm)].flatMap(([, cell = '']) => cell.split(', '))
    expect(shown.sort()).toEqual(names.sort())
  })
})
