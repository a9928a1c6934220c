import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReturnRecord } from '../../../core/author/returner.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { Origins } from '../../../core/syndic/origins.ts'
import { openUpward } from '../../../core/syndic/upward.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const FROM_ABOVE = '20261121080000000001'
const OWN = '20261121080000000002'
const FROM_OTHER = '20261121080000000003'

let folder: string
let jobs: JobCache
let origins: Origins
const sent: Record<string, unknown>[] = []
const reported: string[] = []
const logged: string[] = []

beforeEach(async () => {
  for (const list of [sent, reported, logged]) list.length = 0
  folder = await temporaryFolder('salt-ts-upward-')
  jobs = JobCache.open(folder)
  origins = Origins.open(folder)
  await origins.note(FROM_ABOVE, 'above', 1)
  await origins.note(FROM_OTHER, 'other', 1)
  await jobs.create(OWN, { fun: 'test.ping', user: 'ann' }, ['web1'])
})
afterEach(async () => {
  await jobs.close()
  await origins.close()
  await removeFolder(folder)
})

/** `answer` gives the reply of the master above. */
const open = (
  answer: (load: Record<string, unknown>) => unknown = () => ({ refused: [] }),
  takesOwnJobs = true,
) =>
  openUpward({
    id: 'low',
    master: 'above',
    jobs,
    origins,
    log: recordingLog((_, text) => logged.push(text)),
    takesOwnJobs: () => takesOwnJobs,
    report: async (jid) => void reported.push(jid),
    request: async (load) => {
      const reply = answer(load)
      sent.push(load)
      return reply
    },
  })

const ret = (jid: string, id: string, more: Partial<ReturnRecord> = {}): ReturnRecord => ({
  jid,
  id,
  fun: 'test.ping',
  fun_args: [],
  return: true,
  retcode: 0,
  success: true,
  ...more,
})

const pairs = () =>
  sent.flatMap(({ load }) =>
    (load as { jid: string; return: object }[]).flatMap((job) =>
      Object.keys(job.return).map((id) => [job.jid, id]),
    ),
  )

test('returns of jobs from this master are sent to it, those of jobs from another master are not', async () => {
  await open().saveBatch?.([ret(FROM_ABOVE, 'web1'), ret(FROM_ABOVE, 'web2'), ret(FROM_OTHER, 'web1')])
  expect(sent).toHaveLength(1)
  expect(pairs()).toEqual([
    [FROM_ABOVE, 'web1'],
    [FROM_ABOVE, 'web2'],
  ])
})

test('jobs of the master below are sent to one of the masters, with their loads', async () => {
  await open(undefined, false).save(ret(OWN, 'web1'))
  expect(sent).toEqual([])
  await open().save(ret(OWN, 'web1'))
  expect(sent[0]).toMatchObject({ load: [{ jid: OWN, load: { fun: 'test.ping', user: 'ann' } }] })
})

test('returns that concern only this host are not sent: of runners, own requests, and rows of missing returns', async () => {
  const { save } = open()
  for (const fun of ['runner.jobs.active', 'wheel.key.list', 'saltutil.find_job'])
    await save(ret(OWN, 'web1', { fun }))
  await save(ret(FROM_ABOVE, 'web1', { state: 'not_connected' }))
  expect(sent).toEqual([])
  await save(ret(FROM_ABOVE, 'web1', { fun: 'saltutil.find_job' }))
  expect(sent).toHaveLength(1)
})

test('only jobs from this master are reported to it', async () => {
  const { saveLoad, saveMinions } = open()
  for (const jid of [FROM_ABOVE, OWN, FROM_OTHER]) {
    await saveLoad?.({ jid, load: {}, minions: [] })
    await saveMinions?.(jid, [])
  }
  expect(reported).toEqual([FROM_ABOVE, FROM_ABOVE])
})

test.each([
  [{}, 'order_masters: true'],
  [{ refused: 'You may not.' }, 'It says: You may not.'],
  [undefined, 'order_masters: true'],
])('the answer %j is no acknowledgement: the returns are sent again', async (answer, why) => {
  await expect(open(() => answer).save(ret(FROM_ABOVE, 'web1'))).rejects.toThrow(why)
})

test.each([[null], [{ refused: [] }]])('the answer %j is an acknowledgement', async (answer) => {
  await open(() => answer).save(ret(FROM_ABOVE, 'web1'))
})

test('a refused return is sent again after its minion was reported again', async () => {
  const { save } = open(() => ({ refused: reported.length === 0 ? [[FROM_ABOVE, 'web1']] : [] }))
  await save(ret(FROM_ABOVE, 'web1'))
  expect(reported).toEqual([FROM_ABOVE])
  expect(sent).toHaveLength(2)
  expect(logged).toEqual([])
})

test('a return that is refused even then is dropped, and named in the log', async () => {
  await open(() => ({ refused: [[FROM_ABOVE, 'web9']] })).save(ret(FROM_ABOVE, 'web9'))
  expect(logged.join('\n')).toContain(
    'has dropped 1 returns, of minions that this syndic does not speak for there: web9.',
  )
})

test('returns too large for one message are sent separately, and one that is too large alone as a failed return', async () => {
  const isTooLarge = ({ load }: Record<string, unknown>) => JSON.stringify(load).length > 600
  const { saveBatch } = open((load) => {
    if (isTooLarge(load)) throw new SaltError('MESSAGE_TOO_LARGE', 'It has 200 MB; at most 100 are allowed.')
    return null
  })
  await saveBatch?.([
    ret(FROM_ABOVE, 'web1', { return: 'x'.repeat(300) }),
    ret(FROM_ABOVE, 'web2', { return: 'x'.repeat(300) }),
    ret(FROM_ABOVE, 'web3', { return: 'x'.repeat(900) }),
  ])
  expect(pairs().map(([, id]) => id)).toEqual(['web1', 'web2', 'web3'])
  expect(sent.at(-1)).toMatchObject({
    load: [
      { return: { web3: { success: false, retcode: 1, return: expect.stringContaining('at most 100') } } },
    ],
  })
})

test('while the master does not answer, returns that are not for it are not skipped either', async () => {
  let isAway = true
  const { save, saveLoad } = open(() => {
    if (isAway) throw new Error('The master does not answer.')
    return null
  })
  const kept = ret(OWN, 'web1', { fun: 'runner.jobs.active' })
  await save(kept)
  await expect(save(ret(FROM_ABOVE, 'web1'))).rejects.toThrow('does not answer')
  await expect(save(kept)).rejects.toThrow('does not answer')
  await expect(saveLoad?.({ jid: OWN, load: {}, minions: [] })).rejects.toThrow('does not answer')
  isAway = false
  await save(ret(FROM_ABOVE, 'web1'))
  await save(kept)
  expect(pairs()).toEqual([[FROM_ABOVE, 'web1']])
})
