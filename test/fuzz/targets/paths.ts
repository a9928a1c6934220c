/** Texts of peers that become paths: nothing outside the folder for them is read or written. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isBelow } from '../../../core/base/files/open-inside.ts'
import { safeName, safeParts, safePath } from '../../../core/base/files/safe-path.ts'
import { isJid } from '../../../core/base/jid.ts'
import { isMinionId, type MinionId } from '../../../core/base/minion-id.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { FileServer, fileRequests, receiveFile } from '../../../core/fileserver/index.ts'
import { KeyStore } from '../../../core/keys/index.ts'
import { quietLog } from '../../harness/log.ts'
import { memoryFolder } from '../memory-folder.ts'
import { must, type Target } from '../target.ts'
import { watchWrites } from '../write-watch.ts'

/** In the file that nobody may read. */
const SECRET = 'the secret of the fuzzer'
const BREAK = '\x1f'
const ID = 'wire1' as MinionId
/** What is done with an input, by its first byte: most are only checked, since files take longer. */
const WAYS = 16

const files = ['top.sls', 'dir/file', 'dir/deep/er', 'a b', 'é', '|x', 'q?saltenv=dev', '...', '-r']
const seeds = [
  ...files.flatMap((file) => [0, 12, 13, 14, 15].map((way) => seed(way, file, 'base'))),
  ...['../secret', 'dir/../../secret', '/etc/passwd', 'out', 'out/secret', 'up/secret', '|../secret'].flatMap(
    (path) => [0, 12, 13, 14].map((way) => seed(way, path, 'dev')),
  ),
  ...['wire1', 'web01.example.org', 'a'.repeat(253), '.', '..', '.hidden'].flatMap((id) => [
    seed(0, id, ''),
    seed(15, id, ''),
  ]),
]

function seed(way: number, ...texts: string[]): Buffer {
  return Buffer.concat([Buffer.from([way]), Buffer.from(texts.join(BREAK))])
}

const words = [
  '..',
  '../',
  '/..',
  './',
  '/',
  '//',
  '\0',
  '\\',
  '|',
  '?saltenv=',
  '&saltenv=dev',
  BREAK,
  '~',
  '%2e%2e',
  '\n',
  '*',
]
const names = [
  'secret',
  'out',
  'up',
  'top.sls',
  'dir',
  'base',
  'dev',
  'minions',
  'files',
  'a'.repeat(255),
  'é'.repeat(128),
  'proc/self',
]

export default async (): Promise<Target> => {
  const home = mkdtempSync(join(memoryFolder(), 'salt-fuzz-paths-'))
  const roots = join(home, 'roots')
  plant(home, roots)
  const overrides = { root_dir: home, pki_dir: '/pki', cachedir: '/cache', file_recv: true }
  const { config } = loadMasterConfig({
    configDir: home,
    overrides: { ...overrides, file_roots: { base: [join(roots, 'base')], dev: [join(roots, 'dev')] } },
  })
  const served = fileRequests(await FileServer.open(config, quietLog), config)
  const received = join(home, 'cache', 'minions', ID, 'files')
  const keys = new KeyStore(config.pki_dir)
  const watch = watchWrites()

  async function serve(path: string, saltenv = ''): Promise<string> {
    const outcomes: string[] = []
    for (const cmd of ['_file_find', '_serve_file', '_file_hash']) {
      const answer = (await served.get(cmd)?.({ path, saltenv, loc: 0, gzip: path.length % 3 })) as Record<
        string,
        unknown
      >
      must(!textOf(answer).includes(SECRET), 'A file outside the roots was served')
      if (cmd === '_file_find' && answer.path !== '')
        must(isBelow(String(answer.path), roots), 'A file outside the roots was found')
      outcomes.push(answer.path || answer.dest || answer.hsum ? 'file' : 'none')
    }
    return outcomes.join(' ')
  }

  async function receive(path: string, data = ''): Promise<string> {
    watch.written.clear()
    const load = { path: path.split('/'), loc: 0, data }
    const answer = await receiveFile(load, ID, { config, log: quietLog, isNew: async () => true })
    for (const place of watch.written)
      must(isBelow(received, place) || isBelow(place, received), `It wrote ${place}`)
    return answer === true ? 'received' : 'refused'
  }

  async function look(id: string): Promise<string> {
    const outcomes = [keys.accepted(id), await keys.read(id), await keys.state(id)]
    must(
      outcomes.every((found) => found === undefined),
      'A key was found that nobody filed',
    )
    return isMinionId(id) ? 'id' : 'no id'
  }

  async function run(input: Buffer): Promise<string> {
    const way = (input[0] ?? 0) % WAYS
    const [first = '', second] = input.toString('utf8', 1).split(BREAK)
    if (way === 12) return `served ${await serve(first, second)}`
    if (way === 13) return `listed ${await list(first, second)}`
    if (way === 14) return receive(first, second)
    if (way === 15) return look(first)
    return checked(first)
  }

  async function list(prefix: string, saltenv = ''): Promise<string> {
    const lists = await Promise.all(
      ['_file_list', '_dir_list', '_symlink_list'].map((cmd) => served.get(cmd)?.({ prefix, saltenv })),
    )
    must(!JSON.stringify(lists).includes('cret/'), 'A folder outside the roots was listed')
    return lists.map((found) => (Object.keys(found as object).length > 0 ? 'some' : 'none')).join(' ')
  }

  return {
    form: 'text',
    choices: [WAYS],
    words: [...words, ...names],
    seeds,
    run,
    check: () => {
      rmSync(received, { recursive: true, force: true })
      watch.written.clear()
    },
    close: async () => {
      watch.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** File roots with links that lead out of them, and a secret beside them. */
function plant(home: string, roots: string): void {
  for (const folder of ['pki', 'cache', 'secret', 'roots/base/dir/deep', 'roots/dev'])
    mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(home, 'secret', 'secret'), SECRET)
  for (const file of files) writeFileSync(join(roots, 'base', file), `content of ${file}`)
  symlinkSync('../../secret/secret', join(roots, 'base', 'out'))
  symlinkSync('../../secret', join(roots, 'base', 'up'))
  symlinkSync('../base/top.sls', join(roots, 'dev', 'in'))
}

function textOf(answer: unknown): string {
  const { data, gzip } = answer as { data?: Uint8Array | string; gzip?: number }
  if (!(data instanceof Uint8Array))
    return JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
  return (gzip ? gunzipSync(data) : Buffer.from(data)).toString()
}

/** The rules for names and paths: whatever they let through stays in its folder. */
function checked(text: string): string {
  const root = '/srv/root'
  const [path, name, parts] = [safePath(text), safeName(text), safeParts(text.split('/'))]
  for (const safe of [path, parts])
    if (safe !== undefined) {
      const full = join(root, safe)
      must(full === `${root}/${safe}` && full.startsWith(`${root}/`), 'A safe path leaves its folder')
      must(!safe.includes('\0') && Buffer.byteLength(safe) <= 3072, 'A safe path cannot be opened')
    }
  if (name !== undefined) must(basename(join(root, name)) === name, 'A safe name is a path')
  const isId = isMinionId(text)
  if (isId)
    must(dirname(join(root, text)) === root && !/[\p{Cc}*?[\]]/u.test(text), 'The id of a minion is a path')
  if (isJid(text)) must(safeName(text) !== undefined && /^[\w-]{20,85}$/.test(text), 'A job id is a path')
  return [path, name, parts, isId || undefined].map((found) => (found === undefined ? 'no' : 'yes')).join(' ')
}
