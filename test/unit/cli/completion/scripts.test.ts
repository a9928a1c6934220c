import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shells } from '../../../../core/cli/completion/scripts.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const run = promisify(execFile)
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-shell-')
})
afterAll(() => removeFolder(folder))

const scriptOf = (shell: string) => (shells[shell] as (typeof shells)[string])(['salt', 'salt-key'], helper())
const helper = () => join(folder, "it's", 'complete.sh')

/** Return the completions of bash for a line, if the helper prints these rows. */
async function offered(line: string, rows: string): Promise<string[]> {
  await mkdir(join(helper(), '..'), { recursive: true })
  await writeFile(helper(), `cat <<'END'\n${rows}END\n`)
  await writeFile(join(folder, 'bash'), scriptOf('bash'))
  const script = `source ${folder}/bash
    COMP_LINE="$1"; COMP_POINT=\${#COMP_LINE}
    compopt() { echo "compopt $*"; }
    _salt_ts
    printf '%s\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['-c', script, 'bash', line])
  return stdout.trimEnd().split('\n')
}

test('bash offers the words without descriptions', async () => {
  expect(await offered('salt we', 'web01\tone\nweb02\t\n')).toEqual(['web01', 'web02'])
})

test('bash completes after = and :, at which it splits words, and adds no space after a new =', async () => {
  expect(await offered("salt -G 'os:De", 'os:Debian\t\n')).toEqual(['Debian'])
  expect(await offered('salt x cmd.run cw', 'cwd=\t\n')).toEqual(['compopt -o nospace', 'cwd='])
})

test.each(Object.entries(shells))('%s completes every program', (shell) => {
  const text = scriptOf(shell)
  for (const name of ['salt', 'salt-key'])
    expect(text).toMatch(new RegExp(`^(?:complete|compdef).* ${name}\\b`, 'm'))
})
