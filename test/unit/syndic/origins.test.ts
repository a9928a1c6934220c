import { expect, onTestFinished, test } from 'vitest'
import { Origins } from '../../../core/syndic/origins.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const JID = '20261121000000000001'

test('keeps every master that a job came from, also if two send it at once', async () => {
  const folder = await temporaryFolder('salt-origins-')
  const origins = Origins.open(folder)
  onTestFinished(async () => {
    await origins.close()
    await removeFolder(folder)
  })
  const notes = ['one', 'two', 'one'].map((master) => origins.note(JID, master, 1))
  expect(await Promise.all(notes)).toEqual([true, true, false])
  expect(origins.of(JID)).toEqual(['one', 'two'])
})
