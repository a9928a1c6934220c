import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { decode, encodeLocal } from '../../../core/codec/index.ts'
import { openLoader } from '../../../core/loader/index.ts'
import { openConfiguredReturner } from '../../../core/outbox/open-returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'
import { bytes, vectors } from '../../harness/vectors.ts'
import { returnerContract } from '../returner.ts'

/** Where Salt has a job (wire protocol §13.2). */
function folderOf(cachedir: string, jid: string): string {
  const hash = createHash('sha256').update(jid).digest('hex')
  return join(cachedir, 'jobs', hash.slice(0, 2), hash.slice(2))
}

await returnerContract({
  name: 'local_cache',
  async prepare() {
    const cachedir = await temporaryFolder('salt-ts-cache-')
    return {
      config: { cachedir, hash_type: 'sha256' },
      rows: async (jid, id) => [decode(await readFile(join(folderOf(cachedir, jid), id, 'return.p')))],
      drop: () => removeFolder(cachedir),
    }
  },
})

describe('the files of local_cache', () => {
  const jid = '20300202020202020202'
  let cachedir: string
  let cache: Returner
  beforeAll(async () => {
    cachedir = await temporaryFolder('salt-ts-cache-')
    const config = { cachedir, hash_type: 'sha256' }
    const loader = openLoader('returners', { config, log: quietLog })
    cache = await openConfiguredReturner({ name: 'local_cache' }, { loader, config, log: quietLog })
  })
  afterAll(() => removeFolder(cachedir))

  const put = async (path: string, content: string | Uint8Array) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
  const aReturn = { jid, id: 'web1', fun: 'test.ping', fun_args: [], return: true, retcode: 0, success: true }

  const recorded = vectors<{ jobs: RecordedJob[] }>('job-cache')
  test('are read as a Python master wrote them', async () => {
    for (const { jid, directory, files_b64, decoded } of recorded.jobs) {
      for (const [name, content] of Object.entries(files_b64))
        await put(join(cachedir, 'jobs', directory, name), bytes(content))
      expect(folderOf(cachedir, jid), jid).toBe(join(cachedir, 'jobs', directory))
      const load = await cache.getLoad?.(jid)
      if ('.load.p' in decoded) expect(load?.load).toEqual(decode(bytes(files_b64['.load.p'] ?? '')))
      const rets = (await cache.getJid?.(jid)) ?? []
      const ids = Object.keys(files_b64).filter((name) => name.endsWith('/return.p'))
      expect(rets.map(({ id }) => `${id}/return.p`).sort()).toEqual(ids.sort())
      for (const ret of rets) {
        const file = decode(bytes(files_b64[`${ret.id}/return.p`] ?? '')) as object
        expect(ret).toMatchObject({ jid, ...file })
      }
    }
  })

  test('have the names and values Python looks for', async () => {
    const load = { jid, fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', ret: '', user: 'root' }
    await cache.saveLoad?.({ jid, load, minions: ['web1', 'web2'] })
    await cache.saveMinions?.(jid, ['behind'])
    await cache.save({ ...aReturn, out: 'nested' })
    await cache.updateEndtime?.(jid, '2030-02-02T02:02:02.345Z')
    const folder = folderOf(cachedir, jid)
    const content = async (...names: string[]) => readFile(join(folder, ...names))
    expect(String(await content('jid'))).toBe(jid)
    expect(decode(await content('.load.p'))).toEqual(load)
    expect(decode(await content('.minions.p'))).toEqual(['web1', 'web2'])
    const [syndic = ''] = (await readdir(folder)).filter((name) => /^\.minions\.\w+\.p$/.test(name))
    expect(decode(await content(syndic))).toEqual(['behind'])
    expect(decode(await content('web1', 'return.p'))).toMatchObject({
      return: true,
      retcode: 0,
      success: true,
    })
    expect(decode(await content('web1', 'out.p'))).toBe('nested')
    expect(String(await content('endtime'))).toBe('2030, Feb 02 02:02:02.345000')
    await cache.save(aReturn)
    expect(await readdir(join(folder, 'web1'))).toEqual(['return.p'])
  })

  test('may be in an old format, in which a file has the value and nothing else', async () => {
    const old = '20300303030303030303'
    await put(join(folderOf(cachedir, old), 'web1', 'return.p'), encodeLocal(['a', 'b']))
    expect(await cache.getJid?.(old)).toMatchObject([
      { jid: old, id: 'web1', return: ['a', 'b'], retcode: 0 },
    ])
  })

  test('are passed over where they are damaged', async () => {
    const torn = '20300404040404040404'
    await cache.save({ ...aReturn, jid: torn, id: 'whole' })
    await put(join(folderOf(cachedir, torn), 'torn', 'return.p'), Buffer.from([0x83, 0xa1]))
    expect((await cache.getJid?.(torn))?.map(({ id }) => id)).toEqual(['whole'])
  })

  test('do not get returns of a job that is not to be cached', async () => {
    const none = '20300505050505050505'
    await put(join(folderOf(cachedir, none), 'nocache'), '')
    await cache.save({ ...aReturn, jid: none })
    expect(await cache.getJid?.(none)).toEqual([])
  })

  test.each(['../up', '.load.p', 'jid', 'a/b', 'nul\0'])(
    'never lie where an id like %j would put them',
    async (id) => {
      await expect(cache.save({ ...aReturn, id })).rejects.toMatchObject({ code: 'UNSAVABLE' })
    },
  )
})

interface RecordedJob {
  readonly jid: string
  readonly directory: string
  readonly files_b64: Readonly<Record<string, string>>
  readonly decoded: Readonly<Record<string, unknown>>
}
