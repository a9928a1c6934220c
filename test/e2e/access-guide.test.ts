import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { stepsOf, writeStep } from '../harness/guide.ts'
import { keyPair } from '../harness/key-pairs.ts'

const guide = new URL('../../docs/who-may-do-what.md', import.meta.url)

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-access-guide-')
  const accepted = join(folder, 'root/etc/salt/pki/master/minions')
  await mkdir(accepted, { recursive: true })
  for (const id of ['web1', 'db1']) await writeFile(join(accepted, id), (await keyPair(id)).publicKey.pem)
  await mkdir(join(folder, 'etc'))
  await writeFile(join(folder, 'etc/master'), `root_dir: ${folder}/root\n`)
})
afterAll(() => removeFolder(folder))

test('the commands of the guide about access rules print what the guide shows', async () => {
  const env = {
    PATH: [bin, process.env.PATH].join(delimiter),
    SALT_CONFIG_DIR: join(folder, 'etc'),
    NODE_OPTIONS: '',
  }
  let shownSomething = 0
  for (const step of stepsOf(guide)) {
    if ('file' in step) await writeStep(folder, step)
    else {
      const { all } = await execa('sh', ['-c', step.commands], { cwd: folder, env, reject: false, all: true })
      expect(`${all}\n`).toBe(step.shown)
      shownSomething++
    }
  }
  expect(shownSomething).toBe(4)
})
