/** Programs that may open too few files (`ulimit -n`). */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bin } from '../harness/daemons.ts'

async function runWith(files: number, program: string, ...args: string[]) {
  const limited = `ulimit -n ${files}; exec "$0" "$@"`
  const child = spawn('bash', ['-c', limited, process.execPath, join(bin, program), ...args])
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { said, code }
}

/** Below this some versions of Node do not start. */
const LEAST_OF_NODE = 28

test.each([
  ['salt', 64, ['*', 'test.ping']],
  ['salt-call', 64, ['--local', 'test.ping']],
  ['salt-key', 64, ['-L']],
  ['salt-run', 64, ['jobs.list_jobs']],
  ['salt-ts', 64, ['--help']],
  ['salt-master', 128, []],
  ['salt-minion', 128, []],
  ['salt-api', 128, []],
])(
  '%s reports that it needs %i, and prints nothing else',
  async (program, least, args) => {
    for (const files of [LEAST_OF_NODE, 40, least - 1])
      expect(await runWith(files, program, ...args)).toEqual({
        code: 78,
        said:
          `ERROR: ${program} may open ${files} files, and needs ${least} at least. Run "ulimit -n 1024" before it is started; ` +
          'for a service set LimitNOFILE in its unit.\n',
      })
  },
  60_000,
)

test.each([
  ['salt', ['--version']],
  ['salt-call', ['--local', '--out', 'json', 'test.ping']],
  ['salt-ts', ['--version']],
])('%s works with 64', async (program, args) => {
  const { code, said } = await runWith(64, program, ...args)
  expect(said).not.toMatch(/EMFILE|Cannot find/)
  expect(code).toBe(0)
})
