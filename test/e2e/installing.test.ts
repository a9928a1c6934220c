/** Programs while another version is being installed in their place: files are missing for a moment. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bin } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const root = join(bin, '..')
let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-installing-')
  await cp(bin, join(folder, 'bin'), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterEach(() => removeFolder(folder))

function start(program: string, seconds: number) {
  const child = spawn(process.execPath, [join(folder, 'bin', program), '--version'], {
    env: { ...process.env, SALT_TS_INSTALL_SECONDS: String(seconds) },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  return once(child, 'close').then(([code]) => ({ code, output }))
}

const programs = [
  'salt',
  'salt-run',
  'salt-key',
  'salt-call',
  'salt-master',
  'salt-minion',
  'salt-api',
  'salt-ts',
]

test.each(programs)('%s waits for its files', async (program) => {
  const ended = start(program, 60)
  await symlink(join(root, 'dist'), join(folder, 'dist'))
  expect(await ended).toEqual({ code: 0, output: expect.stringContaining(program) })
})

test.each(programs)('%s reports in a sentence that they are missing', async (program) => {
  const { code, output } = await start(program, 0)
  expect(output).toMatch(
    new RegExp(
      `^ERROR: ${program} cannot start: .* Another version of salt-ts is being installed here, or this one is damaged`,
    ),
  )
  expect(output).not.toContain('    at ')
  expect(code).toBe(1)
})
