import { afterEach, beforeEach, expect, test } from 'vitest'
import { Catalogues } from '../../../core/cache/catalogues.ts'
import { keysUnder, openStore } from '../../../core/store/index.ts'
import { catalogueHash, readCatalogueReport } from '../../../core/wire/catalogue.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let directory: string
let catalogues: Catalogues

beforeEach(async () => {
  directory = await temporaryFolder('salt-catalogues-')
  catalogues = Catalogues.open(directory)
})
afterEach(async () => {
  await catalogues.close()
  await removeFolder(directory)
})

const [one, two] = ['one', 'two'].map((text) => ({ hash: catalogueHash(text), text })) as [
  { hash: string; text: string },
  { hash: string; text: string },
]

test('a catalogue is requested once, however many minions have it', async () => {
  expect(await catalogues.save('web1', { hash: one.hash })).toBe(false)
  expect(catalogues.hash('web1')).toBeUndefined()
  expect(await catalogues.save('web1', one)).toBe(true)
  expect(await catalogues.save('web2', { hash: one.hash })).toBe(true)
  expect([catalogues.hash('web1'), catalogues.hash('web2')]).toEqual([one.hash, one.hash])
  expect(catalogues.text(one.hash)).toBe('one')
})

test('a catalogue that no minion has any more is removed', async () => {
  for (const id of ['web1', 'web2']) await catalogues.save(id, one)
  await catalogues.save('web1', two)
  expect(catalogues.text(one.hash)).toBe('one')
  await catalogues.save('web2', one)
  await catalogues.save('web2', two)
  expect(catalogues.text(one.hash)).toBeUndefined()
  await catalogues.keep((id) => id === 'web2')
  expect([catalogues.hash('web1'), catalogues.text(two.hash)]).toEqual([undefined, 'two'])
  await catalogues.keep(() => false)
  await catalogues.close()
  const store = openStore(Catalogues.path(directory))
  const left = ['hash', 'catalogue', 'users', 'asked'].flatMap((kind) => [...store.keys(keysUnder(kind))])
  await store.close()
  catalogues = Catalogues.open(directory)
  expect(left).toEqual([])
})

test('a minion that reports an unknown catalogue has none any more', async () => {
  await catalogues.save('web1', one)
  expect(readCatalogueReport({ hash: null })).toEqual({ hash: undefined })
  expect(await catalogues.save('web1', { hash: undefined })).toBe(true)
  expect([catalogues.hash('web1'), catalogues.text(one.hash)]).toEqual([undefined, undefined])
})

test('a minion is asked from time to time, or after it was started', async () => {
  expect(await catalogues.ask(['py1', 'py2'], 1000, 0)).toEqual(['py1', 'py2'])
  expect(await catalogues.ask(['py1', 'py2', 'py3'], 2000, 500)).toEqual(['py3'])
  await catalogues.askAgain('py1')
  await catalogues.askAgain('unknown')
  expect(await catalogues.ask(['py1', 'py2'], 2000, 500)).toEqual(['py1'])
  expect(await catalogues.ask(['py1', 'py2'], 3000, 1500)).toEqual(['py2'])
})

test.each([
  [{}],
  [{ hash: 'x' }],
  [{ hash: one.hash, catalogue: 'two' }],
  [{ hash: one.hash, catalogue: 7 }],
  [{ hash: catalogueHash('x'.repeat(5_000_000)), catalogue: 'x'.repeat(5_000_000) }],
])('a report is accepted only if the hash is that of the text, which has a maximum length', (load) =>
  expect(readCatalogueReport(load)).toBeUndefined(),
)
