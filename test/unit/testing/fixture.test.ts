import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandExecutionError, fn, p } from '../../../core/author/index.ts'
import { DateTime } from '../../../core/codec/values.ts'
import { type JobFixture, loadFixture, replay, saveFixture } from '../../../core/testing/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-fixture-')
})
afterAll(() => removeFolder(folder))

const recorded: JobFixture = {
  fun: 'hello.greet',
  args: ['Ada'],
  kwargs: { times: 2 },
  id: 'web1',
  jid: '20260101000000000000',
  return: ['Ada on Debian', 'Ada on Debian'],
  retcode: 0,
  success: true,
}
const greet = fn({ name: p.string(), times: p.integer() }, ({ name, times }, { grains }) =>
  Array.from({ length: times }, () => `${name} on ${grains.os}`),
)

describe('replay', () => {
  test('succeeds if the function does what was recorded', async () => {
    await replay(recorded, greet, { grains: { os: 'Debian' } })
  })
  test('shows the difference', async () => {
    const changed = fn({ name: p.string(), times: p.integer() }, ({ name }) => [name])
    await expect(replay(recorded, changed)).rejects.toMatchObject({
      code: 'ERR_ASSERTION',
      actual: { return: ['Ada'], retcode: 0 },
    })
    const failing = fn({ name: p.string(), times: p.integer() }, (_, context) => {
      context.retcode = 2
      return recorded.return
    })
    await expect(replay(recorded, failing)).rejects.toMatchObject({ actual: { retcode: 2 } })
  })
  test('compares errors, too', async () => {
    const failed = { ...recorded, return: 'ERROR: no room', retcode: 1, success: false }
    const params = { name: p.string(), times: p.integer() }
    const throws = (message: string) =>
      fn(params, () => {
        throw new CommandExecutionError(message)
      })
    await replay(failed, throws('no room'))
    await expect(replay(failed, throws('no memory'))).rejects.toMatchObject({
      actual: { return: 'It failed: no memory' },
    })
    await expect(replay(recorded, throws('no room'))).rejects.toMatchObject({ code: 'ERR_ASSERTION' })
  })
  test('takes values that were not recorded from the test', async () => {
    const asks = fn({ name: p.string(), times: p.integer() }, (_, { call }) => call('cmd.run', { cmd: 'id' }))
    await replay({ ...recorded, return: 'root' }, asks, { calls: { 'cmd.run': 'root' } })
  })
  test('refuses masked arguments, with what to do', async () => {
    const masked = { ...recorded, kwargs: { times: '**********' } }
    await expect(replay(masked, greet)).rejects.toThrow(
      'Secret arguments of hello.greet were not recorded; provide them',
    )
  })
})

describe('a fixture file', () => {
  test('returns what was saved, including values that JSON cannot express', async () => {
    const file = path.join(folder, 'all.json')
    const value = {
      bytes: new Uint8Array([0, 255]),
      big: 2n ** 60n,
      infinite: [Number.POSITIVE_INFINITY, Number.NaN],
      time: new DateTime('20260101T00:00:00.000000'),
      map: new Map<unknown, unknown>([[1, 'one']]),
      text: 'ü',
      nothing: null,
    }
    await saveFixture(file, { ...recorded, return: value })
    expect(await loadFixture(file)).toEqual({ ...recorded, return: value })
  })
  test('that cannot be read is named', async () => {
    await writeFile(path.join(folder, 'bad.json'), '{')
    await expect(loadFixture(path.join(folder, 'bad.json'))).rejects.toThrow(
      /The fixture .*bad.json cannot be read/,
    )
  })
})
