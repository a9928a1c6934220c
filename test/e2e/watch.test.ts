import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

const saltCall = fileURLToPath(new URL('../../bin/salt-call', import.meta.url))

let folder: string
let child: ChildProcess | undefined
let output: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-watch-')
  output = ''
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const gone = new Promise((done) => child?.once('exit', done))
    child.kill('SIGTERM')
    await gone
  }
  await removeFolder(folder)
})

/** A configuration, so that nothing of this host is read. */
const options = () => ['-c', join(folder, 'etc'), '--local', '-m', '.']
const put = async (name: string, text: string) => {
  await mkdir(join(folder, name, '..'), { recursive: true })
  await writeFile(join(folder, name), text)
}
const module = (text: string) => `import { fn } from 'salt-ts'\nimport { end } from './lib/_end.ts'
export const hi = fn(() => ${text} + end)\n`

async function prepare(): Promise<void> {
  await put('etc/minion', `id: m1\nroot_dir: ${folder}/root\n`)
  await put('hello.ts', module("'one'"))
  await put('lib/_end.ts', "export const end = '!'\n")
}

function watch(...words: string[]): void {
  child = spawn(saltCall, ['--watch', ...options(), ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
}

const shows = (text: string) =>
  until(
    () => `${text} in:\n${output}`,
    () => output.includes(text),
  )

test('a file in a folder is run at once', async () => {
  await prepare()
  const { stdout } = await execa(saltCall, [...options(), 'hello.hi'], { cwd: folder })
  expect(stdout).toBe('local:\n    one!')
})

test('--watch runs it again when the module or a helper is saved, shows errors, and keeps watching', async () => {
  await prepare()
  watch('hello.hi')
  await shows('local:\n    one!')
  await put('hello.ts', module("'two'"))
  await shows('hello.ts was saved')
  await shows('local:\n    two!')
  await put('lib/_end.ts', "export const end = '?'\n")
  await shows('local:\n    two?')
  await put('hello.ts', module("'three' ="))
  await shows('hello.ts:3: SyntaxError')
  await put('hello.ts', module('process.exit(7) ??'))
  await put('hello.ts', module("'four'"))
  await shows('local:\n    four?')
  const ended = new Promise((done) => child?.once('exit', done))
  child?.kill('SIGINT')
  expect(await ended).toBe(130)
})

test('--watch runs it again for imported files, not for files that the function writes', async () => {
  await prepare()
  await put(
    'hello.ts',
    `import { appendFileSync, writeFileSync } from 'node:fs'
import { end } from './lib/_end.ts'
export const hi = () => {
  appendFileSync('runs.log', 'run\\n')
  writeFileSync('data.txt', String(Date.now()))
  return 'wrote' + end
}\n`,
  )
  watch('hello.hi')
  await shows('wrote!')
  await put('lib/_end.ts', "export const end = '?'\n")
  await shows('wrote?')
  await put('notes.txt', 'nothing is run for this')
  await put('lib/_end.ts', "export const end = '.'\n")
  await shows('wrote.')
  expect(output.match(/\S+ was saved/g)).toEqual(['lib/_end.ts was saved', 'lib/_end.ts was saved'])
})

test('a missing module or helper is run as soon as it is there', async () => {
  await prepare()
  await rm(join(folder, 'hello.ts'))
  await rm(join(folder, 'lib'), { recursive: true })
  watch('hello.hi')
  await shows('not available')
  await put('hello.ts', module("'here'"))
  await shows('Cannot find module')
  await put('lib/_end.ts', "export const end = '!'\n")
  await shows('here!')
})

test('a run that hangs is ended when the file is saved', async () => {
  await prepare()
  await put(
    'hello.ts',
    `${module("'never'").replace('hi', 'other')}
export const hi = fn(async () => { console.log('begun'); for (;;) {} })\n`,
  )
  watch('hello.hi')
  await shows('begun')
  await put('hello.ts', module("'better'"))
  await shows('local:\n    better!')
})

test('without a folder --watch is refused', async () => {
  await prepare()
  const run = await execa(saltCall, ['--watch', '-c', 'etc', '--local', 'test.ping'], {
    cwd: folder,
    reject: false,
  })
  expect(run).toMatchObject({
    exitCode: 64,
    stderr: expect.stringContaining('Name the folder to watch with -m'),
  })
})
