import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Catalogues } from '../../../../core/cache/catalogues.ts'
import { connectedFile } from '../../../../core/config/cachedir.ts'
import type { MasterConfig } from '../../../../core/config/index.ts'
import { CallChecks } from '../../../../core/master/preflight/call-checks.ts'
import { checkJob } from '../../../../core/master/preflight/check-job.ts'
import { offeredCatalogues } from '../../../../core/master/preflight/preflight-job.ts'
import { catalogueHash } from '../../../../core/wire/catalogue.ts'
import type { PublishLoad } from '../../../../core/wire/publish-request.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

let cachedir: string
beforeEach(async () => {
  cachedir = await temporaryFolder('salt-check-')
})
afterEach(() => removeFolder(cachedir))

const text = JSON.stringify({ functions: { 'test.ping': {} }, missing: {} })
const request = { fun: 'a.b', arg: [], kwargs: {}, user: 'root' } as unknown as PublishLoad
const no = "'a.b' is not available."

/** Minions of one catalogue that answer so, or not at all; gives whether all refuse, and who was asked. */
async function check(
  present: readonly string[],
  answers: Readonly<Record<string, (string | null)[] | undefined>>,
) {
  const config = { cachedir } as MasterConfig
  await writeFile(connectedFile(config), JSON.stringify({ present, lost: [] }))
  const asked: string[] = []
  const catalogues = { hash: () => catalogueHash(text), text: () => text } as unknown as Catalogues
  const callChecks = new CallChecks()
  const publish = async ({ jid }: { readonly jid: string }, ids: readonly string[] = []) => {
    asked.push(...ids)
    for (const id of ids) {
      const refusals = answers[id]
      if (refusals) callChecks.report(id, { jid, refusals })
    }
  }
  const context = { catalogues, config, callChecks, nextJid: () => '20261121000000000001', publish }
  const { everywhere, refusals } = await checkJob(
    context,
    request,
    offeredCatalogues(context, Object.keys(answers)),
  )
  return { everywhere, refusals, asked }
}

test('all refuse if the connected minions say so, and none says otherwise', async () => {
  expect(await check(['web1'], { web1: [no], web2: undefined })).toEqual({
    everywhere: true,
    refusals: [{ minions: ['web1', 'web2'], reason: no }],
    asked: ['web1', 'web2'],
  })
})

test('the answer of a minion that is not yet known to be connected counts', async () => {
  expect(await check(['web1'], { web1: [no], web2: [null] })).toMatchObject({
    everywhere: false,
    refusals: [],
  })
})

test('a connected minion that does not answer may run the job', SLOW, async () => {
  expect(await check(['web1', 'web2'], { web1: [no], web2: undefined })).toMatchObject({ everywhere: false })
})

test(
  'a connected minion that does not answer is not counted as refusing by its catalogue',
  SLOW,
  async () => {
    expect(await check(['web1'], { web1: undefined, web2: undefined })).toMatchObject({
      everywhere: false,
      refusals: [{ minions: ['web2'], reason: expect.stringContaining(no) }],
    })
  },
)

test('without connected minions no minion is asked, and the job is sent with a warning', async () => {
  const refusals = [expect.objectContaining({ minions: ['web1'] })]
  expect(await check([], { web1: [no] })).toEqual({ everywhere: false, refusals, asked: [] })
})

test('all minions are asked, however many, since the last of them may have been synced', async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`web${index}`, [no]]))
  const { everywhere, asked } = await check(Object.keys(many), many)
  expect([everywhere, asked.length]).toEqual([true, 500])
  expect(await check(Object.keys(many), { ...many, web499: [null] })).toMatchObject({ everywhere: false })
})
