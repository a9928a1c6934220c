/** Commands on a terminal, and with a pipe whose reader has closed it. */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, Cluster } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({ minions: ['web1'] })
})
afterAll(() => cluster?.close())

/** A command of the shell on a terminal of its own. */
function onTerminal(program: string, ...args: string[]) {
  const words = [process.execPath, join(bin, program), '-c', cluster.configDir, ...args]
  const line = words.map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...process.env, TERM: 'xterm' } })
  const seen = { text: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.text += text
  })
  const ended = new Promise<number | null>((done) => child.once('close', done))
  return { child, seen, ended }
}

/** What stands on the terminal in the end. */
const visible = (text: string) => text.split('\r\n').map((line) => line.split('\r\x1b[K').at(-1))

/** A job that ends when `end` is called. */
function job(name: string) {
  const file = join(cluster.root, name)
  return { command: `until [ -e ${file} ]; do sleep 0.1; done; echo done`, end: () => writeFile(file, '') }
}

test('a status line shows the progress of the job, and is erased before the results', async () => {
  const { command, end } = job('one')
  const { seen, ended } = onTerminal('salt', 'web1', 'cmd.run', command, '--no-color')
  await until('the receipt of the minion', () => seen.text.includes('returned 0/1, running 1, silent 0, 0:0'))
  await end()
  expect(await ended).toBe(0)
  expect(visible(seen.text)).toEqual(['web1:', '    done', ''])
})

test('a job that ends at once, and one whose output is redirected, have no status line', async () => {
  const quick = onTerminal('salt', 'web1', 'test.ping', '--no-color', '--out', 'txt')
  expect(await quick.ended).toBe(0)
  const file = join(cluster.root, 'out')
  const elsewhere = onTerminal('salt', 'web1', 'test.sleep', '1', '--out-file', file)
  expect(await elsewhere.ended).toBe(0)
  expect(elsewhere.seen.text).toBe('')
  const piped = await cluster.spawned('salt', 'web1', 'test.sleep', '1', '--out', 'txt')
  expect([piped.stdout, piped.stderr]).toEqual(['web1: True\n', ''])
})

test('--progress shows a bar instead of results; without a terminal, lines', async () => {
  const { seen, ended } = onTerminal('salt', 'web1', 'test.sleep', '1', '-p')
  expect(await ended).toBe(0)
  expect(visible(seen.text)).toEqual([
    expect.stringMatching(/^\[#{1,30}\] 100 % returned 1\/1, running 0, silent 0, 0:0\d$/),
    '',
  ])
  const piped = await cluster.spawned('salt', 'web1', 'test.sleep', '0.5', '--progress')
  expect(piped.stdout).toBe('')
  expect(piped.stderr).toMatch(/^100 %: returned 1\/1, running 0, silent 0, 0:0\d\n$/)
})

test('Ctrl-C, twice, ends the command and nothing else; a lookup of the job reports that it runs', async () => {
  const { command, end } = job('two')
  const { child, seen, ended } = onTerminal('salt', 'web1', 'cmd.run', command)
  await until('the receipt of the minion', () => seen.text.includes('running 1'))
  child.stdin.write('\x03\x03')
  expect(await ended).toBe(130)
  const [, jid = ''] = /The job with jid (\d{20}) is still running/.exec(seen.text) ?? []
  const look = async () =>
    JSON.parse(
      (await cluster.command('salt-run', 'jobs.lookup_jid', jid, 'missing=True', '--out', 'json')).stdout,
    )
  expect(await look()).toEqual({
    web1: 'Minion did not return so far.\nState: started. The minion is running it.',
  })
  await end()
  await until('the return', async () => (await look()).web1 === 'done')
})

describe('a pipe whose reader has closed it', () => {
  test.each<[string, string[]]>([
    ['salt', ['web1', 'test.ping']],
    ['salt-run', ['jobs.list_jobs']],
    ['salt-key', ['-L']],
    ['salt-call', ['--local', 'test.ping']],
  ])('ends %s silently, with the exit code of Unix tools', async (program, args) => {
    const directory = program === 'salt-call' ? cluster.minions.get('web1')?.directory : cluster.configDir
    const child = spawn(process.execPath, [join(bin, program), '-c', String(directory), ...args])
    child.stdout.destroy()
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    expect(await new Promise((done) => child.once('exit', done))).toBe(141)
    expect(stderr).toBe('')
  })
})
