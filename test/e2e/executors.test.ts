/** Executors, as options of jobs and of the configuration, and utils, both synced from the master. */
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LocalClient } from '../../core/client/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program, ROOT } from '../harness/needs.ts'
import { returnsOf } from '../harness/returns-of.ts'

let cluster: Cluster
let client: LocalClient
let extensions: string
/** What the program in the place of sudo was called with, a line each. */
let calls: string

beforeAll(async () => {
  extensions = await temporaryFolder('salt-executors-')
  cluster = await Cluster.open({ minions: ['web1'], master: { file_roots: { base: [extensions] } } })
  client = await cluster.client()
  calls = join(cluster.root, 'calls')
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
  await removeFolder(extensions)
})

describe('--module-executors', () => {
  test('has these executors run a job, with --executor-opts', async () => {
    const { stdout, code } = await cluster.salt(
      ...[
        'web1',
        'test.ping',
        '--module-executors=[splay, direct_call]',
        '--executor-opts={splaytime: 0.01}',
      ],
    )
    expect({ stdout, code }).toEqual({ stdout: 'web1:\n    True\n', code: 0 })
    const wrong = await cluster.salt(
      ...['web1', 'test.ping', '--module-executors=[splay, direct_call]', '--executor-opts={splaytime: 0}'],
    )
    expect(wrong.stdout).toContain("ERROR executing 'test.ping': splaytime must be a positive integer")
    expect(wrong.code).toBe(1)
  })

  test('finds executors of saltutil.sync_executors from the next job on, also in salt-call', async () => {
    const folder = join(extensions, '_executors')
    await mkdir(folder, { recursive: true })
    const file = (answer: string) =>
      `import { executor } from 'salt-ts'\nexport default executor({ execute: ({ fun }) => \`\${fun}: ${answer}\` })\n`
    for (const answer of ['first', 'second']) {
      await writeFile(join(folder, 'mine.js'), file(answer))
      const { web1 } = await returnsOf(client, { tgt: 'web1', fun: 'saltutil.sync_executors' })
      expect(web1).toContain('executors.mine')
      const ran = await cluster.salt('web1', 'test.ping', '--module-executors', 'mine')
      expect(ran.stdout).toContain(`test.ping: ${answer}`)
    }
    const minion = cluster.minions.get('web1')!
    const call = await cluster.spawned(
      'salt-call',
      ...['-c', minion.directory, '--local', 'test.ping', '--module-executors=[mine]', '--out=json'],
    )
    expect(JSON.parse(call.stdout)).toEqual({ local: 'test.ping: second' })
  })
})

test('saltutil.sync_utils syncs shared files of modules, and a changed file is used by the next job', async () => {
  for (const kind of ['_modules', '_utils']) await mkdir(join(extensions, kind), { recursive: true })
  const sharing = "import { word } from '#utils/words.ts'\nexport const say = () => word\n"
  await writeFile(join(extensions, '_modules/told.ts'), sharing)
  for (const word of ['first', 'second']) {
    await writeFile(join(extensions, '_utils/words.ts'), `export const word = '${word}'\n`)
    const fun = ['saltutil.sync_utils', 'saltutil.sync_modules']
    const { web1 } = await returnsOf(client, { tgt: 'web1', fun, arg: [[], []] })
    expect(web1).toMatchObject({ 'saltutil.sync_utils': expect.arrayContaining(['utils.words']) })
    expect(await returnsOf(client, { tgt: 'web1', fun: 'told.say' })).toEqual({ web1: word })
  }
})

describe('sudo_user', needs(ROOT, program('setpriv')), () => {
  let minion: Daemon

  /** In the place of sudo, which asks nobody here: who is root already may be anybody. */
  async function startAs(user: string): Promise<void> {
    const bin = join(cluster.root, 'bin')
    await mkdir(bin, { recursive: true })
    const script = `#!/bin/sh
echo "$@" >> ${calls}
[ "$1 $2 $4" = '-n -u --' ] || exit 9
user=$3; shift 4
exec env -i PATH=/usr/bin:/bin HOME=/ setpriv --reuid="$user" --clear-groups -- "$@"
`
    await writeFile(join(bin, 'sudo'), script, { mode: 0o755 })
    minion = cluster.minionDaemon(`as-${user}`, { sudo_user: user })
    cluster.minions.set(`as-${user}`, minion)
    await minion.writeConfig()
    for (const path of [tmpdir(), cluster.root, minion.directory])
      await chmod(path, (await stat(path)).mode | 0o055)
    await chmod(join(minion.directory, 'minion'), 0o644)
    minion.start('debug', ['env', `PATH=${bin}${delimiter}${process.env.PATH}`])
    await minion.logged('is ready to receive jobs')
  }

  type Returned = { readonly args: readonly unknown[]; readonly kwargs: { readonly text?: string } }
  const json = async (...words: string[]) => {
    const { stdout, stderr, code } = await cluster.salt(...words, '--out=json')
    const [value] = Object.values<Returned>(JSON.parse(stdout || stderr))
    return { value, code }
  }

  test('runs functions as that user, with their arguments unchanged', async () => {
    await startAs('nobody')
    const ran = (...words: string[]) => json('as-nobody', ...words)
    expect(await ran('cmd.run', 'id -un')).toEqual({ value: 'nobody', code: 0 })
    const odd = ['a#b', "it's", 'a: b', '[1, 2.50, {x: null}]', "'1.10'", 'two\nlines', 'true']
    const words = [...odd, 'text= "quoted" # no comment']
    const both = await cluster.salt('-L', 'as-nobody,web1', 'test.arg', ...words, '--out=json', '--static')
    const { 'as-nobody': value, web1: here } = JSON.parse(both.stdout) as Record<string, Returned>
    expect(value?.args).toEqual(here?.args)
    expect(value?.kwargs.text).toBe(here?.kwargs.text)
    expect(value?.args).toContain('two\nlines')
    expect(await readFile(calls, 'utf8')).not.toContain('comment')
  })

  test('keeps the exit code and the failure of a function', async () => {
    const ran = (...words: string[]) => json('as-nobody', ...words)
    expect(await ran('cmd.retcode', 'exit 3')).toEqual({ value: 3, code: 1 })
    const { value, code } = await ran('cmd.run', 'x', 'cwd=/nowhere')
    expect(value).toContain("Error running 'cmd.run': Specified cwd '/nowhere'")
    expect(code).toBe(1)
  })

  test('sends events of functions to the master, whose keys only root may read', async () => {
    await startAs('root')
    const sent = await returnsOf(client, { tgt: 'as-root', fun: 'event.send', arg: ['from/sudo', { a: 1 }] })
    expect(sent).toEqual({ 'as-root': true })
  })

  test('does not apply to functions that the minion answers itself, nor to salt-call', async () => {
    await writeFile(calls, '')
    expect(await json('as-root', 'test.ping')).toEqual({ value: true, code: 0 })
    const call = await cluster.spawned('salt-call', '-c', minion.directory, '--local', 'cmd.run', 'id -un')
    expect(call.stdout).toContain('root')
    expect(await readFile(calls, 'utf8')).toBe('')
  })
})
