import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openFileClient } from '../../../core/fileserver/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

type Load = Readonly<Record<string, unknown>>

let folder: string
/** What a master has, and how often it was asked for what. */
let files: Map<string, Buffer>
let asked: string[]
/** Says something else than an honest master would. */
let lie: ((load: Load) => unknown) | undefined

beforeEach(async () => {
  folder = await temporaryFolder('salt-client-')
  files = new Map([['dir/a', Buffer.from('content')]])
  asked = []
  lie = undefined
})
afterEach(() => removeFolder(folder))

const PIECE = 1000
const hsum = (content: Buffer) => createHash('sha256').update(content).digest('hex')

async function master(load: Load): Promise<unknown> {
  asked.push(String(load.cmd))
  const answer = lie?.(load)
  if (answer !== undefined) return answer
  const content = files.get(String(load.path))
  if (load.cmd === '_file_hash') return content ? { hash_type: 'sha256', hsum: hsum(content) } : ''
  if (load.cmd !== '_serve_file') return []
  if (!content) return { data: '', dest: '' }
  const data = content.subarray(Number(load.loc), Number(load.loc) + PIECE)
  const isZipped = Boolean(load.gzip) && data.length > 0
  return { data: isZipped ? gzipSync(data) : data, dest: load.path, ...(isZipped && { gzip: load.gzip }) }
}

const client = () => openFileClient({ ask: master, cachedir: folder })
const cached = (path: string) => join(folder, 'files', 'base', path)
const served = () => asked.filter((cmd) => cmd === '_serve_file').length

test('a file that another process should download, but cannot open, is downloaded by the client itself', async () => {
  const delegated: string[] = []
  const delegate = async ({ path }: { readonly path: string }) => {
    delegated.push(path)
    return false
  }
  const asking = openFileClient({ ask: master, delegate, cachedir: folder })
  expect(await readFile((await asking.cache('dir/a', 'base'))!, 'utf8')).toBe('content')
  expect(delegated).toEqual(['dir/a'])
})

describe('the cache', () => {
  test('stores a file where Salt does, readable by its owner only', async () => {
    expect(await client().cache('dir/a', 'base')).toBe(cached('dir/a'))
    expect(await readFile(cached('dir/a'), 'utf8')).toBe('content')
    expect((await stat(cached('dir/a'))).mode & 0o777).toBe(0o600)
    expect((await stat(cached('dir'))).mode & 0o777).toBe(0o700)
  })

  test('sends one request for a small file, and no more while it is unchanged', async () => {
    await client().cache('dir/a', 'base')
    await client().cache('dir/a', 'base')
    expect(served()).toBe(1)
    files.set('dir/a', Buffer.from('changed'))
    await client().cache('dir/a', 'base')
    expect(await readFile(cached('dir/a'), 'utf8')).toBe('changed')
    await writeFile(cached('dir/a'), 'damaged')
    await client().cache('dir/a', 'base')
    expect(await readFile(cached('dir/a'), 'utf8')).toBe('changed')
  })

  test('stores large files and empty ones, compressed or not, as text or as bytes', async () => {
    files.set('big', randomBytes(2 * PIECE + 1))
    files.set('whole', randomBytes(2 * PIECE))
    files.set('text', Buffer.from('äöü'.repeat(PIECE)))
    files.set('empty', Buffer.alloc(0))
    for (const [path, content] of files)
      for (const gzip of [0, 6]) {
        await rm(cached(path), { force: true })
        const place = await client().cache(path, 'base', { gzip })
        expect((await readFile(place!)).equals(content), path).toBe(true)
      }
    lie = ({ cmd }) => (cmd === '_serve_file' ? { data: 'content', dest: 'x' } : undefined)
    expect(await readFile((await client().cache('dir/a', 'base'))!, 'utf8')).toBe('content')
  })

  test('replaces a folder by a file, and a file by a folder', async () => {
    await mkdir(cached('dir/a/deep'), { recursive: true })
    expect(await client().cache('dir/a', 'base')).toBe(cached('dir/a'))
    files.set('dir/a/b', Buffer.from('b'))
    expect(await client().cache('dir/a/b', 'base')).toBe(cached('dir/a/b'))
    expect(await readFile(cached('dir/a/b'), 'utf8')).toBe('b')
  })

  test('refuses paths outside of it, and files that do not exist', async () => {
    for (const path of ['../x', '/etc/passwd', '', 'a/../../b', 'x\0']) {
      files.set(path, Buffer.from('evil'))
      expect(await client().cache(path, 'base')).toBeUndefined()
    }
    files.set('x', Buffer.from('evil'))
    expect(await client().cache('x', '../../..')).toBeUndefined()
    expect(await client().cache('nothing', 'base')).toBeUndefined()
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a file', () => {
  const dest = () => join(folder, 'dest')

  test('that is replaced keeps its mode, and a link to it stays a link', async () => {
    await writeFile(dest(), 'old')
    await chmod(dest(), 0o640)
    await symlink('dest', join(folder, 'link'))
    expect(await client().fetch('dir/a', 'base', join(folder, 'link'))).toBe(true)
    expect(await readFile(dest(), 'utf8')).toBe('content')
    expect((await stat(dest())).mode & 0o777).toBe(0o640)
    expect((await readdir(folder)).sort()).toEqual(['dest', 'link'])
  })

  test('that is new has the mode new files have', async () => {
    await client().fetch('dir/a', 'base', dest())
    expect((await stat(dest())).mode & 0o777).toBe(0o666 & ~process.umask())
  })

  test('that is not on the server changes no local file', async () => {
    await writeFile(dest(), 'old')
    expect(await client().fetch('nothing', 'base', dest())).toBe(false)
    expect(await readFile(dest(), 'utf8')).toBe('old')
  })

  test('that is changed while it comes is requested again', async () => {
    files.set('dir/a', randomBytes(3 * PIECE))
    const later = randomBytes(3 * PIECE)
    lie = ({ cmd, loc }) => {
      if (cmd === '_serve_file' && loc === PIECE && served() === 2) files.set('dir/a', later)
      return undefined
    }
    expect(await client().fetch('dir/a', 'base', dest())).toBe(true)
    expect((await readFile(dest())).equals(later)).toBe(true)
  })

  test('that never has the hash it should have is not written', async () => {
    await writeFile(dest(), 'old')
    lie = ({ cmd, loc }) =>
      cmd === '_serve_file' ? { data: loc === 0 ? 'something else' : '', dest: 'x' } : undefined
    await expect(client().fetch('dir/a', 'base', dest())).rejects.toThrow(
      /The received data of salt:\/\/dir\/a \(14 bytes\) does not have the hash/,
    )
    expect(await readFile(dest(), 'utf8')).toBe('old')
    expect(await readdir(folder)).toEqual(['dest'])
  })

  test.each([{}, '', null, [], { data: 5, dest: 'x' }])(
    'is not written from the answer %j',
    async (answer) => {
      lie = ({ cmd }) => (cmd === '_serve_file' ? answer : undefined)
      await expect(client().fetch('dir/a', 'base', dest())).rejects.toThrow(
        'The master sent no data of salt://dir/a',
      )
      expect(await readdir(folder)).toEqual([])
    },
  )

  test('whose connection breaks halfway leaves nothing, and the error says why', async () => {
    files.set('dir/a', randomBytes(3 * PIECE))
    lie = ({ cmd, loc }) => {
      if (cmd === '_serve_file' && loc === PIECE) throw new Error('no answer within 60 s')
      return undefined
    }
    await expect(client().fetch('dir/a', 'base', dest())).rejects.toThrow(
      'The file server did not answer: no answer within 60 s',
    )
    expect(await readdir(folder)).toEqual([])
  })

  test('with an unsupported hash type is refused with what to do', async () => {
    lie = ({ cmd }) => (cmd === '_file_hash' ? { hash_type: 'crc32', hsum: 'x' } : undefined)
    await expect(client().fetch('dir/a', 'base', dest())).rejects.toThrow('set hash_type: sha256')
  })
})

test('lists contain only texts, whatever a master answers', async () => {
  lie = () => ['a', 5, null, 'b', ['c']]
  expect(await client().list('files', 'base')).toEqual(['a', 'b'])
  lie = () => ({ path: '', rel: '' })
  expect(await client().stat('x', 'base')).toBeUndefined()
})

test.each(['', {}, null, 'x'])(
  'a list is refused if %j is sent instead, as when the master failed',
  async (answer) => {
    lie = () => answer
    const failed = 'could not list its files. See the log of the master'
    await expect(client().list('dirs', 'base')).rejects.toThrow(failed)
    await expect(client().envs()).rejects.toThrow(failed)
  },
)

test('links are refused if they are not a map, as when the master failed', async () => {
  lie = () => ''
  await expect(client().links('base')).rejects.toThrow('could not list its files')
})

test('an error while writing to a device or pipe says that data was written', async () => {
  lie = ({ cmd, loc }) =>
    cmd === '_serve_file' ? { data: loc === 0 ? 'damaged' : '', dest: 'x' } : undefined
  const given = client().fetch('dir/a', 'base', '/dev/null')
  await expect(given).rejects.toThrow(
    '/dev/null is not a regular file; the data received until then was written to it.',
  )
  await expect(client().fetch('dir/a', 'base', '/dev/null')).rejects.not.toThrow('Nothing was written')
})
