import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shells } from '../../../../core/cli/completion/scripts.ts'

const run = promisify(execFile)
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-shell-'))
  await writeFile(join(folder, 'bash'), (shells.bash as (names: string[]) => string)(['salt', 'salt-key']))
})
afterAll(() => rm(folder, { recursive: true }))

/** What bash offers after a line, if `salt-ts __complete` says these rows. */
async function offered(line: string, rows: string): Promise<string[]> {
  const helper = join(folder, 'salt-ts')
  await writeFile(join(folder, 'rows'), rows)
  await writeFile(
    helper,
    `#!/bin/sh\n[ "$1" = __complete ] && printf '%s' "$2" > ${folder}/asked\ncat ${folder}/rows\n`,
  )
  await chmod(helper, 0o755)
  const script = `source ${folder}/bash
    COMP_LINE="$1"; COMP_POINT=\${#COMP_LINE}
    compopt() { echo "compopt $*"; }
    _salt_ts
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SALT_TS_COMPLETION_SECONDS: '20' }
  const { stdout } = await run('bash', ['-c', script, 'bash', line], { env })
  return stdout.trimEnd().split('\n')
}

test('bash offers the words, without what they mean', async () => {
  expect(await offered('salt we', 'web01\tone\nweb02\t\n')).toEqual(['web01', 'web02'])
})

test('bash completes behind = and :, where it parts words, and leaves the cursor behind a = that is new', async () => {
  expect(await offered("salt -G 'os:De", 'os:Debian\t\n')).toEqual(['Debian'])
  expect(await offered('salt x cmd.run cw', 'cwd=\t\n')).toEqual(['compopt -o nospace', 'cwd='])
})

test('bash waits no longer than it is told to', async () => {
  const helper = join(folder, 'salt-ts')
  await writeFile(helper, '#!/bin/sh\nexec sleep 60\n')
  await chmod(helper, 0o755)
  const script = `source ${folder}/bash; COMP_LINE="salt "; COMP_POINT=5; _salt_ts; echo "\${#COMPREPLY[@]}"`
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SALT_TS_COMPLETION_SECONDS: '0.1' }
  const { stdout } = await run('bash', ['-c', script], { env, timeout: 30_000 })
  expect(stdout).toBe('0\n')
})

test.each(Object.entries(shells))('%s knows every program', (_, script) => {
  const text = script(['salt', 'salt-key'])
  for (const name of ['salt', 'salt-key'])
    expect(text).toMatch(new RegExp(`^(?:complete|compdef).* ${name}\\b`, 'm'))
})
