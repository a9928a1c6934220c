import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { UnsavableError } from '../../../core/author/returner.ts'
import multi from '../../../returners/multi_returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'
import { aReturn } from '../../harness/returner.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'multi_returner',
  async prepare() {
    const cachedir = await temporaryFolder('salt-ts-multi-')
    const filename = join(cachedir, 'returns')
    return {
      config: {
        cachedir,
        hash_type: 'sha256',
        'rawfile_json.filename': filename,
        multi_returner: ['rawfile_json', 'local_cache'],
      },
      rows: async (jid) =>
        (await readFile(filename, 'utf8')).split('\n').filter((line) => line.includes(jid)),
      drop: () => removeFolder(cachedir),
    }
  },
})

describe('multi_returner', () => {
  const ret = aReturn({ jid: '20300101000000000000', return: 1 })
  const others = new Map<string, Returner>()
  const opened = (...names: string[]) =>
    multi.create({
      options: {},
      opts: { multi_returner: names },
      log: quietLog,
      id: 'master',
      open: async (name) => others.get(name) ?? Promise.reject(new Error(`There is no returner ${name}.`)),
    })
  const failing = (error: Error): Returner => ({
    save: () => Promise.reject(error),
    getJid: () => Promise.reject(error),
  })
  beforeAll(() => {
    others.set('down', failing(new Error('Nobody answers.')))
    others.set('picky', failing(new UnsavableError('Too large.')))
    others.set('empty', { save: async () => undefined, getJid: async () => [] })
    others.set('full', { save: async () => undefined, getJid: async () => [ret] })
  })

  test('writes to the returners that work when one does not, and names the one that failed', async () => {
    const save = vi.fn(async () => undefined)
    others.set('works', { save })
    await expect((await opened('down', 'works')).save(ret)).rejects.toThrow('down: Nobody answers.')
    expect(save).toHaveBeenCalledOnce()
  })

  test('reports a return as unsavable if no returner has another problem', async () => {
    await expect((await opened('picky', 'full')).save(ret)).rejects.toMatchObject({ code: 'UNSAVABLE' })
    await expect((await opened('picky', 'down')).save(ret)).rejects.not.toHaveProperty('code')
  })

  test('reads from the first returner that has the job, and skips one that is down', async () => {
    const read = async (...names: string[]) => (await opened(...names)).getJid?.(ret.jid)
    expect(await read('empty', 'full')).toEqual([ret])
    expect(await read('down', 'full')).toEqual([ret])
    expect(await read('down', 'empty')).toEqual([])
    await expect(read('down', 'picky')).rejects.toThrow('Too large.')
  })

  test('has only the functions that one of its returners has', async () => {
    expect(await opened('full')).not.toHaveProperty('saveLoad')
    expect(await opened('full')).toHaveProperty('getJid')
  })

  test('closes the returners it has opened if another one cannot be opened', async () => {
    const close = vi.fn(async () => undefined)
    others.set('closes', { save: async () => undefined, close })
    await expect(opened('closes', 'missing')).rejects.toThrow('There is no returner missing.')
    expect(close).toHaveBeenCalledOnce()
  })

  test.each([undefined, [], 'mysql', ['multi_returner'], [7]])('refuses %j for its list', async (names) => {
    const facts = {
      options: {},
      opts: { multi_returner: names },
      log: quietLog,
      id: '',
      open: async () => failing(new Error()),
    }
    await expect(multi.create(facts)).rejects.toThrow('must be a list of other returners')
  })
})
