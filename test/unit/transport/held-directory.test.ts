import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { holdDirectory } from '../../../core/transport/held-directory.ts'

let directory: string
let problems: string[]
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'held-'))
  problems = []
})
afterEach(() => rm(directory, { recursive: true }))

const hold = (id: string, where = directory) =>
  holdDirectory({
    directory: where,
    program: 'salt-minion',
    id,
    onProblem: (sentence) => problems.push(sentence),
  })

it('refuses a second daemon, names the first, and says what to do', async () => {
  const first = await hold('web1')
  await expect(hold('web2')).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
    message:
      `salt-minion web2 cannot use the directory ${directory}: salt-minion web1, process ${process.pid}, already does. ` +
      "Stop that one, or set 'cachedir' or 'root_dir' to another directory.",
  })
  await first.close()
})

it('leaves the directory to the next one, and nothing in it', async () => {
  await (await hold('web1')).close()
  expect(await readdir(directory)).toEqual([])
  await (await hold('web2')).close()
})

it('lets a master and a minion share a directory', async () => {
  const minion = await hold('web1')
  const master = await holdDirectory({ directory, program: 'salt-master', onProblem: () => {} })
  await expect(holdDirectory({ directory, program: 'salt-master', onProblem: () => {} })).rejects.toThrow(
    /^salt-master cannot use the directory .*: salt-master, process \d+, already does/,
  )
  await master.close()
  await minion.close()
})

it('takes the place of what nobody listens on', async () => {
  await writeFile(join(directory, '.salt-minion.ipc'), '')
  const held = await hold('web1')
  await expect(hold('web2')).rejects.toThrow(/salt-minion web1/)
  await held.close()
})

it('works in a directory whose path is too long for a socket', async () => {
  const long = join(directory, 'a'.repeat(120))
  await mkdir(long)
  const held = await hold('web1', long)
  await expect(hold('web2', long)).rejects.toThrow(/salt-minion web1/)
  await held.close()
  expect(await readdir(long)).toEqual([])
})

it('refuses a second daemon also if the first one answers nothing', async () => {
  const silent = createServer(() => {}).listen(join(directory, '.salt-minion.ipc'))
  await expect(hold('web2')).rejects.toThrow(
    /another salt-minion, which does not say who it is, already does/,
  )
  silent.close()
})

it('says where there can be no socket, and goes on', async () => {
  await mkdir(join(directory, '.salt-minion.ipc'))
  const held = await hold('web1')
  expect(problems).toEqual([expect.stringMatching(/^salt-minion web1 cannot make the socket .*It goes on/)])
  await held.close()
})
