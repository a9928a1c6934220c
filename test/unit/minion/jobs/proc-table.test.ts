import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeNetwork } from '../../../../core/codec/index.ts'
import { ProcTable } from '../../../../core/minion/jobs/proc-table.ts'
import { identityOf } from '../../../../core/process/process-identity.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-procs-')
})
afterEach(() => removeFolder(folder))

const job = { jid: '20261122000000000001', fun: 'cmd.run', arg: [], tgt: '*', tgt_type: 'glob', ret: '' }

test('a job is read back with the process that runs it', async () => {
  const { procs } = await ProcTable.open(folder)
  const self = identityOf(process.pid)
  await procs.add({ job, process: self, master: 'master:4506', stop: () => {} })
  const { interrupted } = await ProcTable.open(folder)
  expect(interrupted).toMatchObject([{ job, process: self, master: 'master:4506' }])
  expect((await ProcTable.read(folder)).running()).toMatchObject([{ job, process: self }])
})

test('a file in place of its folder is named, with a remedy', async () => {
  const path = join(folder, 'proc')
  await writeFile(path, '')
  await expect(ProcTable.open(folder)).rejects.toThrow(
    new RegExp(
      `^The directory ${path} cannot be made by user .*: there is a file of that name .* name another place`,
    ),
  )
})

test('a new process with a reused process id is not taken for the job, and not signalled', async () => {
  const { pid, born = '' } = identityOf(process.pid)
  const { procs } = await ProcTable.open(folder)
  await procs.add({ job, process: { pid, born: `${born}1` }, stop: () => {} })
  expect((await ProcTable.read(folder)).size).toBe(0)
  const { interrupted } = await ProcTable.open(folder)
  expect(() => interrupted[0]?.stop(0)).toThrow('has ended')
  expect(() => interrupted[0]?.stop(0, 1000)).toThrow('has ended')
})

test('a file of another implementation with only a process id does not count as a running process', async () => {
  const { procs } = await ProcTable.open(folder)
  expect(procs.size).toBe(0)
  await writeFile(join(folder, 'proc', job.jid), encodeNetwork({ ...job, pid: process.pid }))
  expect((await ProcTable.read(folder)).size).toBe(0)
})

test('the folder is made again if it was removed, for its owner only', async () => {
  const { procs } = await ProcTable.open(folder)
  await rm(join(folder, 'proc'), { recursive: true })
  await Promise.all(
    [job, { ...job, jid: '20261122000000000002' }].map((job) =>
      procs.add({ job, process: identityOf(process.pid), stop: () => {} }),
    ),
  )
  expect((await ProcTable.read(folder)).size).toBe(2)
  expect((await stat(join(folder, 'proc'))).mode & 0o777).toBe(0o700)
})
