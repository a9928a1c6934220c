/** Standard output of a program has its result, whatever a module or a runner prints. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const bin = (name: string) => fileURLToPath(new URL(`../../bin/${name}`, import.meta.url))

const loud = `
import { fn } from 'salt-ts'
console.log('loaded')
export const words = fn(() => {
  console.log('from the log')
  console.info('from info')
  process.stdout.write('written\\n')
  setInterval(() => console.log('later'), 1)
  return { a: 1 }
})
`
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-output-')
  await mkdir(join(folder, 'etc'))
  for (const kind of ['modules', 'runners']) {
    await mkdir(join(folder, 'own', kind), { recursive: true })
    await writeFile(join(folder, 'own', kind, 'loud.js'), loud)
  }
  const config = `root_dir: ${folder}/root\nmodule_dirs: [${folder}/own]\n`
  await writeFile(join(folder, 'etc', 'master'), config)
  await writeFile(join(folder, 'etc', 'minion'), `${config}id: m1\n`)
})
afterAll(() => removeFolder(folder))

test.each([
  ['salt-call', ['--local', 'loud.words'], { local: { a: 1 } }],
  ['salt-run', ['loud.words'], { a: 1 }],
])('%s prints JSON alone', async (program, words, printed) => {
  const args = ['-c', join(folder, 'etc'), '--out', 'json', ...words]
  const { stdout, stderr } = await execa(bin(program), args)
  expect(JSON.parse(stdout)).toEqual(printed)
  for (const line of ['loaded', 'from the log', 'from info', 'written']) expect(stderr).toContain(line)
})

test('returner.test prints a sentence if the store is down', async () => {
  const options = 'redis.host: 127.0.0.1\nredis.port: 1\n'
  await writeFile(join(folder, 'etc', 'master'), `root_dir: ${folder}/root\n${options}`)
  const args = ['-c', join(folder, 'etc'), 'returner.test', 'redis']
  const { stderr, exitCode } = await execa(bin('salt-run'), args, { reject: false })
  expect(stderr).toMatch(/^ERROR: The store of the returner redis cannot be used: .*ECONNREFUSED.*$/)
  expect(exitCode).not.toBe(0)
})

test('salt-call reports a returner whose save is misspelt', async () => {
  await mkdir(join(folder, 'own', 'returners'), { recursive: true })
  const misspelt =
    "import { returner } from 'salt-ts'\nexport default returner({ options: {}, create: () => ({ savee: async () => {} }) })\n"
  await writeFile(join(folder, 'own', 'returners', 'misspelt.ts'), misspelt)
  const args = ['-c', join(folder, 'etc'), '--local', 'test.ping', '--return', 'misspelt']
  const { stderr } = await execa(bin('salt-call'), args, { reject: false })
  expect(stderr).toContain(
    "The returner misspelt cannot be used: it has no function 'save'. It has 'savee': did you mean 'save'? It waits in the outbox",
  )
})

test.each([
  [['tset.ping'], "'tset.ping' is not available. Did you mean 'test.ping'?", 255],
  [
    ['-m', '/nonexistent', 'test.ping'],
    '/nonexistent is not a folder. -m (--module-dirs) needs a folder',
    64,
  ],
])('salt-call %j suggests the right name', async (words, sentence, code) => {
  const args = ['-c', join(folder, 'etc'), '--local', ...words]
  const { stderr, exitCode } = await execa(bin('salt-call'), args, { reject: false })
  expect(stderr).toContain(sentence)
  expect(exitCode).toBe(code)
})
