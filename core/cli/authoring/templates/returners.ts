import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** Where ${name} keeps returns, in a sentence. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromRecordJson, p, type ReturnRecord, recordJson, returner, safeName, UnsavableError, writeFileAtomic } from 'salt-ts'

export default returner({
  options: { directory: p.default(p.string({ minLength: 1 }), '${name}') },
  create({ options: { directory } }) {
    /** An UnsavableError puts the return aside; after any other error it is tried again. */
    const nameOf = (text: string): string => {
      const name = safeName(text)
      if (name === undefined) throw new UnsavableError(\`\${text} cannot be the name of a file.\`)
      return name
    }
    return {
      /** Save a return to a file for its job and minion: a return that is saved twice is stored once. */
      async save(ret) {
        const folder = join(directory, nameOf(ret.jid))
        await mkdir(folder, { recursive: true })
        await writeFileAtomic(join(folder, nameOf(ret.id)), recordJson(ret))
      },
      async getJid(jid) {
        const folder = join(directory, nameOf(jid))
        const ids = await readdir(folder).catch(() => [])
        const texts = await Promise.all(ids.map((id) => readFile(join(folder, id), 'utf8')))
        return texts.map((text) => fromRecordJson(text) as ReturnRecord)
      },
    }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openReturner } from 'salt-ts/testing'
import plugin from './${name}.ts'

const ret = {
  jid: '20300101000000000000',
  id: 'web1',
  fun: 'test.ping',
  fun_args: [],
  return: true,
  retcode: 0,
  success: true,
}
const directory = await mkdtemp(join(tmpdir(), '${name}-'))
const store = await openReturner(plugin, { directory })
test.after(() => rm(directory, { recursive: true }))

test('returns the last saved return of each minion', async () => {
  await store.save({ ...ret, return: 'old' })
  await store.save(ret)
  await store.save({ ...ret, id: 'web2' })
  const found = await store.getJid?.(ret.jid)
  assert.deepEqual(found, [ret, { ...ret, id: 'web2' }])
  assert.deepEqual(await store.getJid?.('20300101000000000001'), [])
})

test('reports a return that can never be saved', async () => {
  await assert.rejects(store.save({ ...ret, id: '../web1' }), { code: 'UNSAVABLE' })
})

test('refuses an invalid option', async () => {
  await assert.rejects(openReturner(plugin, { directory: '' }), /directory/)
})
`,
  tryOut: (name) => `npx salt-call --local -m . test.ping --return ${name}`,
}
