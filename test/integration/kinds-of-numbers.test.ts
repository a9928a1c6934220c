/** A float that is whole stays a float, and a large integer keeps its digits: from the words to what is shown and stored. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseInput } from '../../core/loader/calls/words.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { render } from '../harness/outputters.ts'

let cluster: InProcessCluster
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-numbers-')
  await mkdir(join(folder, 'modules'))
  await writeFile(
    join(folder, 'modules', 'kinds.js'),
    "import { fn, p } from 'salt-ts'\n" +
      'export const seen = fn({ all: p.rest(p.any()) }, ({ all }) => all.map((one) => typeof one))\n' +
      'export const given = fn(() => [new Number(3), 2n ** 63n, 0.1])\n',
  )
  cluster = await InProcessCluster.open({
    transport: 'memory',
    minions: ['web1'],
    minion: { module_dirs: [folder] },
  })
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const words = ['3', '3.0', '-0.0', '1e400', '9007199254740993', '-9007199254740993', 'deep=[1.0, 2]']

test('numbers go to a minion and into the job cache as they were typed', async () => {
  const returned = await cluster.run('web1', 'test.arg', parseInput(words))
  expect(await render('json', returned, { indent: -1 })).toContain(
    '"args": [3, 3.0, -0.0, "1e400", 9007199254740993, -9007199254740993], "kwargs": {',
  )
  expect(await render('json', returned, { indent: -1 })).toContain('"deep": [1.0, 2]')
  expect(await render('nested', returned)).toContain(
    '- 3\n            - 3.0\n            - -0.0\n            - 1e400\n            - 9007199254740993\n',
  )
  expect(await render('yaml', returned)).toContain('- 3.0\n  - -0.0\n  - 1e400\n  - 9007199254740993\n')
})

test('an undeclared parameter gets a boxed number or a bigint, and a function may return both', async () => {
  const seen = await cluster.run('web1', 'kinds.seen', parseInput(['3', '3.0', '9007199254740993']))
  expect(seen).toEqual({ web1: ['number', 'object', 'bigint'] })
  const given = await cluster.run('web1', 'kinds.given')
  expect(await render('json', given, { indent: -1 })).toBe('{"web1": [3.0, 9223372036854775808, 0.1]}')
})
