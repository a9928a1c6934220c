import { afterEach, beforeEach, expect, test } from 'vitest'
import { MinionData } from '../../../core/cache/minion-data.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let directory: string
let data: MinionData

beforeEach(async () => {
  directory = await temporaryFolder('salt-minion-data-')
  data = MinionData.open(directory)
})
afterEach(async () => {
  await data.close()
  await removeFolder(directory)
})

test('data of a minion is returned, also after a restart', async () => {
  await data.save('web1', { grains: { os: 'Debian', ips: ['10.0.0.1'] }, pillar: { role: 'web' } })
  await data.close()
  data = MinionData.open(directory)
  expect(data.grains('web1')).toEqual({ os: 'Debian', ips: ['10.0.0.1'] })
  expect(data.pillar('web1')).toEqual({ role: 'web' })
})

test('parts that are not saved again stay', async () => {
  await data.save('web1', { grains: { os: 'Debian' }, pillar: { role: 'web' } })
  await data.save('web1', { grains: { os: 'Ubuntu' } })
  expect([data.grains('web1'), data.pillar('web1')]).toEqual([{ os: 'Ubuntu' }, { role: 'web' }])
})

test('ids are listed in order, and removed ones are unknown', async () => {
  for (const id of ['web2', 'żółw', 'web1']) await data.save(id, { grains: {} })
  await data.remove('web2')
  expect(data.ids()).toEqual(['web1', 'żółw'])
  expect(data.grains('web2')).toBeUndefined()
})
