import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseMinionId } from '../../../core/base/minion-id.ts'
import { decode } from '../../../core/codec/index.ts'
import { removeJobFiles, writeJobFiles, writeReturnFiles } from '../../../core/jobs/job-files.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const jid = '20261121054055118556'
/** SHA-256 of the jid, first two digits and the others (wire protocol §13.2). */
const place = ['jobs', '69', '5c6809f8be1a56197efa790e6b230efeb3e83699b1a75dd493c514aea3962c']

let cachedir: string
let config: { cachedir: string; hash_type: 'sha256' }
beforeEach(async () => {
  cachedir = await temporaryFolder('salt-job-files-')
  config = { cachedir, hash_type: 'sha256' }
})
afterEach(() => removeFolder(cachedir))

const job = { jid, load: { fun: 'test.ping', jid, tgt: '*', arg: [] }, minions: ['web1', 'web2'] }
const content = async (...names: string[]) => decode(await readFile(join(cachedir, ...place, ...names)))

test("a job is stored where Salt's own job cache has it, with the file names and values Salt reads", async () => {
  await writeJobFiles(config, job)
  expect((await readdir(join(cachedir, ...place))).sort()).toEqual(['.load.p', '.minions.p', 'jid'])
  expect(await readFile(join(cachedir, ...place, 'jid'), 'utf8')).toBe(jid)
  expect(await content('.load.p')).toEqual(job.load)
  expect(await content('.minions.p')).toEqual(job.minions)
})

test('a return has a folder named after its minion, and its outputter a file of its own', async () => {
  const ret = { id: 'web1', fun: 'test.ping', return: true, retcode: 0, success: true }
  await writeJobFiles(config, job)
  await writeReturnFiles(config, jid, parseMinionId('web1'), ret)
  await writeReturnFiles(config, jid, parseMinionId('web2'), { ...ret, out: 'txt' })
  expect(await content('web1', 'return.p')).toEqual({ return: true, retcode: 0, success: true })
  expect(await readdir(join(cachedir, ...place, 'web1'))).toEqual(['return.p'])
  expect(await content('web2', 'out.p')).toBe('txt')
})

test('all files are removed with the job, and a job without files is no error', async () => {
  await writeJobFiles(config, job)
  await removeJobFiles(config, jid)
  await removeJobFiles(config, jid)
  expect(await readdir(join(cachedir, 'jobs', place[1]!))).toEqual([])
})
