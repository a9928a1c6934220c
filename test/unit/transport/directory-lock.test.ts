import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer, Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lockDirectory } from '../../../core/transport/directory-lock.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'

let directory: string
let problems: string[]
beforeEach(async () => {
  directory = await temporaryFolder('held-')
  problems = []
})
afterEach(() => removeFolder(directory))

const hold = (id: string, where = directory) =>
  lockDirectory({
    directory: where,
    program: 'salt-minion',
    id,
    onProblem: (sentence) => problems.push(sentence),
  })

test('the lock refuses a second daemon, names the first, and says what to do', async () => {
  const first = await hold('web1')
  await expect(hold('web2')).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
    message:
      `salt-minion web2 cannot use the directory ${directory}: salt-minion web1, process ${process.pid}, already does. ` +
      "Stop that one (a minion that is stopping waits for its jobs), or set 'cachedir' or 'root_dir' to another directory.",
  })
  await first.close()
})

test('the lock frees the directory for the next daemon, without leftovers', async () => {
  await (await hold('web1')).close()
  expect(await readdir(directory)).toEqual([])
  await (await hold('web2')).close()
})

test('the lock allows a master and a minion in the same directory', async () => {
  const minion = await hold('web1')
  const master = await lockDirectory({ directory, program: 'salt-master', onProblem: () => {} })
  await expect(lockDirectory({ directory, program: 'salt-master', onProblem: () => {} })).rejects.toThrow(
    /^salt-master cannot use the directory .*: salt-master, process \d+, already does/,
  )
  await master.close()
  await minion.close()
})

test('the lock replaces a socket that no process listens on', async () => {
  await writeFile(join(directory, '.salt-minion.ipc'), '')
  const held = await hold('web1')
  await expect(hold('web2')).rejects.toThrow(/salt-minion web1/)
  await held.close()
})

test('the lock works in a directory whose path is too long for a socket', async () => {
  const long = join(directory, 'a'.repeat(120))
  await mkdir(long)
  const held = await hold('web1', long)
  await expect(hold('web2', long)).rejects.toThrow(/salt-minion web1/)
  await held.close()
  expect(await readdir(long)).toEqual([])
})

test('the lock refuses a second daemon also if the first one does not answer', SLOW, async () => {
  const silent = createServer(() => {}).listen(join(directory, '.salt-minion.ipc'))
  await expect(hold('web2')).rejects.toThrow(/another salt-minion, which does not answer, already does/)
  silent.close()
})

test('the lock reports that a socket cannot be made, and the daemon works without it', async () => {
  await mkdir(join(directory, '.salt-minion.ipc'))
  const held = await hold('web1')
  expect(problems).toEqual([
    expect.stringMatching(/^salt-minion web1 cannot make the socket .*It runs without this lock/),
  ])
  await held.close()
})

test('the lock stays when a connection to it cannot be accepted, as with too many open files', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  const held = await hold('web1')
  const server = listen.mock.contexts[0] as Server
  listen.mockRestore()
  for (const _ of [1, 2]) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  await expect(hold('web2')).rejects.toThrow(/salt-minion web1/)
  await held.close()
})
