import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { Script } from 'node:vm'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openLoader } from '../../../core/loader/index.ts'
import * as file from '../../../modules/file.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { stubProgram } from './stub.ts'

let folder: string
let path: string
const CONTENT = '# one\nport = 80\n  name = x\n#off = 1\nlast = é\n'

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-file-')
  path = join(folder, 'a')
  await writeFile(path, CONTENT)
  await chmod(path, 0o640)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const ask = (fn: AnyFn, given: object, overrides: Partial<Context> = {}) =>
  call(fn, given as Record<string, unknown>, fakeContext(overrides))
const content = (name = 'a') => readFile(join(folder, name), 'utf8')
const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o7777

describe('Facts', () => {
  test('stats returns owner, mode, type and hash', async () => {
    expect(await ask(file.stats, { path, hash_type: 'md5' })).toMatchObject({
      uid: process.getuid?.(),
      mode: '0640',
      type: 'file',
      size: Buffer.byteLength(CONTENT),
      sum: await ask(file.get_hash, { path, form: 'md5' }),
      target: path,
    })
    expect(await ask(file.stats, { path: '/dev/null' })).toMatchObject({ type: 'char', user: 'root' })
    await expect(ask(file.stats, { path: join(folder, 'none') })).rejects.toThrow('Path not found: ')
  })

  test('get_hash supports the names of hashes in Python', async () => {
    for (const [form, digits] of [
      ['sha3_256', 64],
      ['blake2b', 128],
      ['blake2s', 64],
    ] as const)
      expect(await ask(file.get_hash, { path, form })).toHaveLength(digits)
    await expect(ask(file.get_hash, { path, form: 'sha3' })).rejects.toThrow('Invalid hash type: sha3')
  })

  test('a symlink is followed, unless it is asked for itself or leads nowhere', async () => {
    await symlink('a', join(folder, 'link'))
    await symlink('none', join(folder, 'lost'))
    expect(await ask(file.stats, { path: join(folder, 'link') })).toMatchObject({ type: 'file' })
    expect(await ask(file.stats, { path: join(folder, 'link'), follow_symlinks: false })).toMatchObject({
      type: 'link',
      target: path,
    })
    expect(await ask(file.stats, { path: join(folder, 'lost') })).toMatchObject({ type: 'link' })
  })

  test('a hash is checked by its type or its length', async () => {
    const sum = await ask(file.get_hash, { path })
    expect(await ask(file.check_hash, { path, file_hash: `sha256:${sum}` })).toBe(true)
    expect(await ask(file.check_hash, { path, file_hash: String(sum) })).toBe(true)
    expect(await ask(file.check_hash, { path, file_hash: 'md5=00' })).toBe(false)
    await expect(ask(file.check_hash, { path, file_hash: 'zz' })).rejects.toThrow(
      'Hash zz (length: 2) could not be matched to a supported hash type.',
    )
  })

  test('users and groups are converted between names and ids', async () => {
    expect(await ask(file.uid_to_user, { uid: 0 })).toBe('root')
    expect(await ask(file.user_to_uid, { user: 'root' })).toBe(0)
    expect(await ask(file.gid_to_group, { gid: '0' })).toBe('root')
    expect(await ask(file.group_to_gid, { group: 'no-such-group' })).toBe('')
    expect(await ask(file.uid_to_user, { uid: 4_000_000 })).toBe(4_000_000)
  })

  test('set_mode returns the mode, or the error', async () => {
    expect(await ask(file.set_mode, { path, mode: '0600' })).toBe('0600')
    expect(await ask(file.set_mode, { path, mode: '9x' })).toBe('Invalid Mode 9x')
    await expect(ask(file.set_mode, { path: '/none/such', mode: '0600' })).rejects.toThrow(
      '/none/such: File not found',
    )
  })

  test('chown gives a link that leads nowhere an owner itself', async () => {
    const lost = join(folder, 'lost')
    await symlink('none', lost)
    const owner = { user: process.getuid?.(), group: process.getgid?.() }
    expect(await ask(file.chown, { path: lost, ...owner })).toBe(null)
    expect(await readdir(folder)).not.toContain('none')
  })

  test('chown names a user or group that does not exist, and changes nothing', async () => {
    expect(await ask(file.chown, { path, user: 'no-such-user', group: 'no-such-group' })).toBe(
      'User does not exist\nGroup does not exist\n',
    )
    expect(await ask(file.chown, { path: join(folder, 'none'), user: 0, group: 0 })).toBe('File not found')
  })

  test('paths are split and joined as in Python', async () => {
    expect(await ask(file.basename, { path: 'a/b/' })).toBe('')
    expect(await ask(file.dirname, { path: 'a/b/c' })).toBe('a/b')
    expect(await ask(file.dirname, { path: '/c' })).toBe('/')
    expect(await ask(file.join, { args: ['/', 'usr', 'local'] })).toBe('/usr/local')
    expect(await ask(file.normpath, { path: 'a/b/../c/' })).toBe('a/c')
    expect(await ask(file.path_exists_glob, { path: `${folder}/[a-b]*` })).toBe(true)
    expect(await ask(file.path_exists_glob, { path: `${folder}/*.x` })).toBe(false)
  })
})

test('a copy that is killed ends at once, and leaves no file', async () => {
  const signal = AbortSignal.abort(new Error('killed'))
  await expect(ask(file.copy, { src: path, dst: `${path}2` }, { signal })).rejects.toThrow('killed')
  expect(await readdir(folder)).toEqual(['a'])
})

describe('Editing', () => {
  test('replace supports groups, returns the diff, and keeps mode and backup', async () => {
    const diff = await ask(file.replace, { path, pattern: '^port = (?P<n>\\d+)$', repl: 'port = \\g<n>1' })
    expect(diff).toBe(
      '--- \n+++ \n@@ -1,5 +1,5 @@\n # one\n-port = 80\n+port = 801\n   name = x\n #off = 1\n last = é\n',
    )
    expect(await content()).toBe(CONTENT.replace('80', '801'))
    expect(await content('a.bak')).toBe(CONTENT)
    expect(await modeOf('a')).toBe(0o640)
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'a.bak'])
  })

  test('replace counts, takes flags by name, and takes a replacement literally', async () => {
    const quiet = { path, backup: false, show_changes: false }
    expect(await ask(file.replace, { ...quiet, pattern: ' = ', repl: '=', count: 1 })).toBe(true)
    expect(
      await ask(file.replace, {
        ...quiet,
        pattern: 'NAME',
        repl: '\\n',
        flags: ['IGNORECASE'],
        backslash_literal: true,
      }),
    ).toBe(true)
    expect(await content()).toBe('# one\nport=80\n  \\n = x\n#off = 1\nlast = é\n')
    expect(await ask(file.replace, { ...quiet, pattern: 'none', repl: 'x' })).toBe(false)
    await expect(ask(file.replace, { ...quiet, pattern: 'x', repl: 'x', flags: 'WRONG' })).rejects.toThrow(
      'Invalid re flag given: WRONG',
    )
  })

  test('replace appends or prepends a missing line once', async () => {
    const given = { path, pattern: '^new =.*', repl: 'new = 1', append_if_not_found: true }
    await ask(file.replace, given)
    await ask(file.replace, given)
    expect(await content()).toBe(`${CONTENT}new = 1\n`)
    await ask(file.replace, {
      path,
      pattern: '^zero',
      repl: 'x',
      prepend_if_not_found: true,
      not_found_content: 'zero',
    })
    expect(await content()).toBe(`zero\n${CONTENT}new = 1\n`)
  })

  test('a dry run and a search change nothing', async () => {
    expect(await ask(file.replace, { path, pattern: 'port', repl: 'x', dry_run: true })).toContain(
      '+x = 80\n',
    )
    expect(await ask(file.search, { path, pattern: '^port' })).toBe(true)
    expect(await ask(file.search, { path, pattern: '^port', flags: 0 })).toBe(false)
    expect(await ask(file.search, { path: `${path}x`, pattern: 'x', ignore_if_missing: true })).toBe(false)
    expect(await content()).toBe(CONTENT)
  })

  test('psed replaces with the letters of its flags', async () => {
    expect(await ask(file.psed, { path, before: 'o', after: '0', flags: '' })).toBeNull()
    expect(await content()).toBe(CONTENT.replace('o', '0'))
    expect(await content('a.bak')).toBe(CONTENT)
  })

  test('a binary or missing file is refused', async () => {
    await writeFile(path, Buffer.from([0, 1, 2]))
    await expect(ask(file.replace, { path, pattern: 'a', repl: 'b' })).rejects.toThrow(SaltInvocationError)
    await expect(ask(file.replace, { path: '/none', pattern: 'a', repl: 'b' })).rejects.toThrow(
      'File not found: /none',
    )
  })

  test('bytes that are no UTF-8 survive', async () => {
    await writeFile(path, Buffer.from('caf\xe9 = 1\n', 'latin1'))
    await ask(file.replace, { path, pattern: '1', repl: '2' })
    expect(await readFile(path, 'latin1')).toBe('caf\xe9 = 2\n')
  })

  test('a file with several names stays one file, and a symlink stays a symlink', async () => {
    await link(path, join(folder, 'other'))
    await symlink('a', join(folder, 'link'))
    await ask(file.replace, { path: join(folder, 'link'), pattern: '80', repl: '81' })
    expect(await content('other')).toContain('port = 81')
    expect(await readlink(join(folder, 'link'))).toBe('a')
    expect(await readlink(join(folder, 'link.bak'))).toBe('a.bak')
  })

  test.each([
    ['ensure', { content: 'new = 2', after: '^port' }, 'port = 80\nnew = 2\n'],
    ['insert', { content: 'z', location: 'start' }, 'z\n# one\n'],
    ['delete', { match: 'port' }, '# one\n  name = x\n'],
    ['replace', { match: 'name', content: 'name = y' }, '\n  name = y\n'],
  ])('line in the mode %s', async (mode, given, expected) => {
    expect(await ask(file.line, { path, mode, ...given })).toContain('@@')
    expect(await content()).toContain(expected)
    const before = await content()
    if (mode === 'ensure') expect(await ask(file.line, { path, mode, ...given })).toBe(false)
    expect(await content()).toBe(before)
  })

  test('line makes a backup with the time in its name, for every text of backup', async () => {
    const loader = openLoader('modules', { config: { extension_modules: '/none' }, log: fakeContext().log })
    const line = await loader.get('file.line')
    const given = line?.bind([path, 'z'], { mode: 'insert', location: 'end', backup: '.bak' })
    await line?.run(given as never, fakeContext())
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^a\.\d{4}-\d\d-\d\d/))
  })

  test('line refuses ambiguous arguments', async () => {
    const refused = (given: object, message: string) =>
      expect(ask(file.line, { path, content: 'z', ...given })).rejects.toThrow(message)
    await refused({}, 'Mode was not defined. How to process the file?')
    await refused({ mode: 'wrong' }, 'Unknown mode: "wrong"')
    await refused(
      { mode: 'insert' },
      'On insert either "location" or "before/after" conditions are required.',
    )
    await refused(
      { mode: 'ensure', after: '=' },
      'Found more than expected occurrences in "after" expression',
    )
  })

  test('blockreplace replaces between markers, adds them, or reports that they are missing', async () => {
    const given = { path, content: 'in', append_newline: true, backup: false }
    await expect(ask(file.blockreplace, given)).rejects.toThrow('Cannot edit marked block.')
    await ask(file.blockreplace, { ...given, insert_after_match: '^port' })
    const block = '#-- start managed zone --\nin\n#-- end managed zone --\n'
    expect(await content()).toBe(CONTENT.replace('80\n', `80\n${block}`))
    expect(await ask(file.blockreplace, given)).toBe('')
    expect(await ask(file.blockreplace, { ...given, content: 'new', show_changes: false })).toBe(true)
    expect(await content()).toContain('zone --\nnew\n#-- end')
    await writeFile(path, '#-- start managed zone --\n')
    await expect(ask(file.blockreplace, given)).rejects.toThrow('Unterminated marked block.')
  })

  test('comment and uncomment are inverse', async () => {
    expect(await ask(file.comment, { path, regex: '^port' })).toBe(
      '--- \n+++ \n@@ -1 +1 @@\n-port = 80\n+#port = 80\n',
    )
    expect(await content()).toContain('#port = 80\n')
    await ask(file.uncomment, { path, regex: '^port' })
    expect(await content()).toBe(CONTENT)
    expect(await ask(file.comment, { path, regex: 'none' })).toBe(false)
  })

  test('append, prepend and write add lines', async () => {
    await writeFile(path, 'one')
    expect(await ask(file.append, { path, lines: ['two', 3] })).toBe(`Wrote 2 lines to "${path}"`)
    expect(await ask(file.prepend, { path, kwargs: { args: ['zero'] } })).toBe(
      `Prepended 1 lines to "${path}"`,
    )
    expect(await content()).toBe('zero\none\ntwo\n3\n')
    expect(await ask(file.write, { path, lines: ['x'] })).toBe(`Wrote 1 lines to "${path}"`)
    expect(await content()).toBe('x\n')
    await expect(ask(file.append, { path: '/none/such', lines: ['x'] })).rejects.toThrow('[Errno 2]')
  })

  test('lines that are no text are written as in Python', async () => {
    const lines = [['section'], { a: 1 }, true, null, 1.5]
    await ask(file.write, { path, lines })
    expect(await content()).toBe("['section']\n{'a': 1}\nTrue\nNone\n1.5\n")
  })

  test('contains, read, seek and truncate read and cut a file', async () => {
    expect(await ask(file.contains, { path, text: 'port' })).toBe(true)
    expect(await ask(file.contains_regex, { path, regex: '^off', lchar: '#' })).toBe(true)
    expect(String(await ask(file.read, { path }))).toBe(CONTENT)
    expect(String(await ask(file.seek_read, { path, size: 3, offset: 2 }))).toBe('one')
    expect(await ask(file.seek_write, { path, data: 'ONE', offset: 2 })).toBe(3)
    await ask(file.truncate, { path, length: 5 })
    expect(await content()).toBe('# ONE')
  })
})

describe('Files and folders', () => {
  test('mkdir, makedirs, rmdir and remove change folders', async () => {
    expect(await ask(file.mkdir, { dir_path: join(folder, 'x/y'), mode: '0700' })).toBe(true)
    expect(await modeOf('x/y')).toBe(0o700)
    expect(await ask(file.makedirs, { path: `${folder}/p/q` })).toBeNull()
    expect(await ask(file.directory_exists, { path: join(folder, 'p') })).toBe(true)
    expect(await ask(file.makedirs, { path: `${folder}/p/` })).toBe(`Directory '${folder}/p' already exists`)
    expect(await ask(file.rmdir, { path: join(folder, 'x'), recurse: true, verbose: true })).toEqual({
      deleted: [join(folder, 'x/y'), join(folder, 'x')],
      errors: [],
      result: true,
    })
    expect(await ask(file.remove, { path: join(folder, 'p') })).toBe(true)
    expect(await ask(file.remove, { path: join(folder, 'p') })).toBe(false)
    await expect(ask(file.remove, { path: 'p' })).rejects.toThrow('File path must be absolute: p')
  })

  test('symlink, readlink and link make and read links', async () => {
    const place = join(folder, 'link')
    expect(await ask(file.symlink, { src: 'a', path: place })).toBe(true)
    expect(await ask(file.symlink, { src: 'a', path: place })).toBe(true)
    await expect(ask(file.symlink, { src: 'b', path: place })).rejects.toThrow(
      `Found existing symlink: ${place}`,
    )
    expect(await ask(file.readlink, { path: place, canonicalize: true })).toBe(path)
    expect(await ask(file.symlink, { src: 'b', path: place, force: true })).toBe(true)
    expect(await ask(file.readlink, { path: place })).toBe('b')
    await ask(file.link, { src: path, path: join(folder, 'hard') })
    expect(await ask(file.is_hardlink, { path })).toBe(true)
  })

  test('copy keeps the mode, and copies folders only with recurse', async () => {
    await ask(file.copy, { src: path, dst: join(folder, 'b') })
    expect(await modeOf('b')).toBe(0o640)
    await mkdir(join(folder, 'd'))
    await writeFile(join(folder, 'd/f'), '1')
    const folders = { src: join(folder, 'd'), dst: join(folder, 'e') }
    await expect(ask(file.copy, folders)).rejects.toThrow('without recurse flag set to true!')
    await ask(file.copy, { ...folders, recurse: true })
    expect(await content('e/f')).toBe('1')
    expect(await ask(file.move, { src: path, dst: join(folder, 'd') })).toMatchObject({ result: true })
    expect(await ask(file.file_exists, { path: join(folder, 'd/a') })).toBe(true)
    const none = { src: '/none', dst: join(folder, 'n') }
    await expect(ask(file.move, none)).rejects.toMatchObject({
      message: `Unable to move '/none' to '${none.dst}': [Errno 2] No such file or directory: '/none'`,
    })
  })

  test('find selects, prints and deletes', async () => {
    await mkdir(join(folder, 'd'))
    await writeFile(join(folder, 'd/f.conf'), 'x'.repeat(2000))
    await utimes(path, 1000, 1000)
    const found = (kwargs: object, args: string[] = []) => ask(file.find, { path: folder, args, kwargs })
    expect(await found({ type: 'f' })).toEqual([path, join(folder, 'd/f.conf')])
    expect(await found({ name: '*.conf', print: 'name,size' })).toEqual([['f.conf', 2000]])
    expect(await found({ size: '+1k', type: 'f' })).toEqual([join(folder, 'd/f.conf')])
    expect(await found({ mtime: '+1d' })).toEqual([path])
    expect(await found({ grep: 'port' })).toEqual([path])
    expect(await found({ type: 'f', maxdepth: 1 })).toEqual([path])
    expect(await found({ foo: 1 })).toBe('error: invalid option "foo"')
    expect(await found({ size: 'x' })).toBe('error: invalid size: "x"')
    expect(await found({ name: 'a' }, ['delete'])).toEqual([path])
    expect(await ask(file.file_exists, { path })).toBe(false)
  })

  test('find continues if a folder cannot be listed', async () => {
    // Nobody waits for the child of a program that was replaced: Linux refuses to list parts of its folder in /proc.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    })
    try {
      const [pid] = await once(parent.stdout as Readable, 'data')
      const ended = `/proc/${String(pid).trim()}`
      const has = async (file: string, text: string) =>
        (await readFile(file, 'utf8')).includes(text) || undefined
      await until('the other program', () => has(`/proc/${parent.pid}/comm`, 'sleep'))
      const end = parent.stdio[3] as Writable
      end.end()
      await until('the end of the child', () => has(`${ended}/stat`, ') Z '))
      await expect(readdir(`${ended}/net`)).rejects.toThrow('EINVAL')
      expect(await ask(file.find, { path: ended, kwargs: { name: 'stat' } })).toContain(`${ended}/stat`)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  test('find tests a folder by its state before its entries were deleted', async () => {
    const old = join(folder, 'old')
    await mkdir(old)
    await writeFile(join(old, 'f'), '')
    for (const each of [join(old, 'f'), old]) await utimes(each, 1000, 1000)
    const found = await ask(file.find, { path: old, kwargs: { mtime: '+30d', delete: 'fd' } })
    expect(found).toEqual([old, join(old, 'f')])
  })

  test('find refuses a name that YAML reads as a list or a map, and deletes nothing', async () => {
    for (const name of [{ a: null }, ['ab']])
      expect(await ask(file.find, { path: folder, kwargs: { name, delete: 'f' } })).toContain(
        'quote it twice',
      )
    expect(await readdir(folder)).toEqual(['a'])
  })

  test('line adds a long line, and reports a pattern that is too large', async () => {
    const content = 'y'.repeat(100_000)
    await ask(file.line, { path, content, mode: 'insert', location: 'end', show_changes: false })
    expect(await readFile(path, 'utf8')).toContain(content)
    await expect(ask(file.search, { path, pattern: content })).rejects.toThrow('it is too large')
  })

  test('find reports a pattern in a file that takes too long', async () => {
    const run = vi.spyOn(Script.prototype, 'runInContext').mockImplementation(() => {
      throw Object.assign(new Error(), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
    })
    await expect(ask(file.find, { path: folder, kwargs: { grep: '(a|a)*b' } })).rejects.toThrow(
      'takes longer',
    )
    run.mockRestore()
  })

  test('rmdir with recurse removes a tree of thousands of nested folders', SLOW, async () => {
    const top = join(folder, 'deep')
    const depth = 1500
    await mkdir(top)
    for (let level = 1; level <= depth; level++) await mkdir(join(top, '0/'.repeat(level)))
    expect(await ask(file.rmdir, { path: top, recurse: true, verbose: true })).toMatchObject({ errors: [] })
    expect(await ask(file.directory_exists, { path: top })).toBe(false)
  })

  test('remove removes files whose names are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(`${folder}/d/`), Buffer.from([0x78, 0xff])])
    await mkdir(join(folder, 'd'))
    await writeFile(bytes, '')
    expect(await ask(file.remove, { path: join(folder, 'd') })).toBe(true)
  })

  test('copy with recurse sets no set-gid bit of another group', needs(ROOT), async () => {
    await mkdir(join(folder, 'src'))
    const program = join(folder, 'src/program')
    await writeFile(program, '')
    await chown(program, 0, 5)
    await chmod(program, 0o2755)
    await ask(file.copy, { src: join(folder, 'src'), dst: join(folder, 'dst'), recurse: true })
    expect(await modeOf('dst/program')).toBe(0o755)
  })

  test('copy with recurse copies small files and large ones', SLOW, async () => {
    for (const size of [0, 65_535, 65_536, 300_000])
      await writeFile(join(folder, `${size}`), 'é'.repeat(size / 2))
    const dst = join(folder, 'copy')
    expect(await ask(file.copy, { src: folder, dst: `${folder}-copy`, recurse: true })).toBe(true)
    await rename(`${folder}-copy`, dst)
    for (const name of ['a', '0', '65535', '65536', '300000'])
      expect(await readFile(join(dst, name))).toEqual(await readFile(join(folder, name)))
    expect((await stat(join(dst, 'a'))).mode & 0o777).toBe(0o640)
  })

  test('a backup is listed, restored after a backup of the present content, and deleted', async () => {
    const opts = { cachedir: join(folder, 'cache') }
    const kept = join(opts.cachedir, 'file_backup', folder)
    await mkdir(kept, { recursive: true })
    await writeFile(join(kept, 'a_Mon_Jul_04_10:11:12_123456_2016'), 'old\n')
    const backups = await ask(file.list_backups, { path }, { opts })
    expect(backups).toEqual({
      '0': {
        'Backup Time': 'Mon Jul 04 2016 10:11:12.123456',
        Size: 4,
        Location: join(kept, 'a_Mon_Jul_04_10:11:12_123456_2016'),
      },
    })
    expect(await ask(file.list_backups_dir, { path: `${folder}/` }, { opts })).toEqual({ a: backups })
    expect(await ask(file.restore_backup, { path, backup_id: 0 }, { opts })).toMatchObject({ result: true })
    expect(await content()).toBe('old\n')
    expect(Object.keys((await ask(file.list_backups, { path }, { opts })) as object)).toEqual(['0', '1'])
    expect(await ask(file.delete_backup, { path, backup_id: 7 }, { opts })).toEqual({
      result: false,
      comment: `backup_id '7' does not exist for ${path}`,
    })
    expect(await ask(file.delete_backup, { path, backup_id: 'x' }, { opts })).toMatchObject({
      comment: "Invalid backup_id 'x'",
    })
    expect(await ask(file.delete_backup, { path, backup_id: 1 }, { opts })).toMatchObject({ result: true })
  })

  test('touch sets times, and access asks the system', async () => {
    const place = join(folder, 't')
    expect(await ask(file.touch, { name: place, atime: 5, mtime: 6 })).toBe(true)
    expect((await stat(place)).mtimeMs).toBe(6000)
    expect(await ask(file.stats, { path: place })).toMatchObject({ mtime: new Number(6) })
    expect(await ask(file.access, { path: place, mode: 'f' })).toBe(true)
    expect(await ask(file.access, { path: `${place}x`, mode: 'r' })).toBe(false)
    await expect(ask(file.access, { path: place, mode: 'q' })).rejects.toThrow('Invalid mode specified.')
    await expect(ask(file.touch, { name: '/none/such' })).rejects.toThrow(
      new CommandExecutionError("[Errno 2] No such file or directory: '/none/such'"),
    )
    await expect(ask(file.symlink, { src: 'a', path: '/proc/none' })).rejects.toThrow(
      "Could not create '/proc/none': [Errno 2] No such file or directory: '/proc/none'",
    )
  })
})

describe('Hashes of sources', () => {
  const MD5 = 'd41d8cd98f00b204e9800998ecf8427e'
  const OTHER = '900150983cd24fb0d6963f7d28e17f72'

  test('a hash is found by the name of the file, or else the first one is used', async () => {
    await writeFile(path, `${OTHER}  dir/other\n${MD5} *foo.tgz\n`)
    const found = (names: object) => ask(file.extract_hash, { hash_fn: path, hash_type: 'md5', ...names })
    expect(await found({ source: 'https://example.com/foo.tgz' })).toEqual({ hsum: MD5, hash_type: 'md5' })
    expect(await found({ file_name: '/x/none' })).toEqual({ hsum: OTHER, hash_type: 'md5' })
    expect(await ask(file.extract_hash, { hash_fn: path })).toBeNull()
  })

  test('a source_hash is a hash, with or without its type', async () => {
    const sum = (source_hash: string) => ask(file.get_source_sum, { source_hash })
    expect(await sum(MD5.toUpperCase())).toEqual({ hsum: MD5, hash_type: 'md5' })
    expect(await sum(`md5=${MD5}`)).toEqual({ hsum: MD5, hash_type: 'md5' })
    await expect(sum(`sha1=${MD5}`)).rejects.toThrow("Invalid length (32) for hash type 'sha1'.")
    await expect(sum(`crc=${MD5}`)).rejects.toThrow("Invalid hash type 'crc'.")
    await expect(sum('gopher://x')).rejects.toThrow('Source hash gopher://x format is invalid.')
  })
})

describe('Permissions', () => {
  const given = { ret: null, user: null, group: null, mode: '0600' }

  test('check_perms changes the mode and returns the previous one', async () => {
    expect(await ask(file.check_perms, { name: path, ...given })).toMatchObject([
      { name: path, changes: { mode: '0600' }, comment: '', result: true },
      { lmode: '0640', cmode: '0600' },
    ])
    expect(await modeOf('a')).toBe(0o600)
  })

  test('check_perms drops comments that are given as a list, and returns its own as a list', async () => {
    const ret = { name: 'x', changes: {}, comment: ['before'], result: true }
    const user = 'no-such-user'
    expect(await ask(file.check_perms, { name: path, ...given, ret })).toMatchObject([{ comment: [] }, {}])
    expect(await ask(file.check_perms, { name: path, ...given, ret, user })).toMatchObject([
      { comment: ['User does not exist\n', `Failed to change user to ${user}`], result: false },
      {},
    ])
    expect(
      await ask(file.check_perms, { name: path, ...given, ret: { ...ret, comment: 'a' } }),
    ).toMatchObject([{ comment: 'a' }, {}])
  })

  test('check_perms with test=True changes nothing', async () => {
    const [result] = (await ask(file.check_perms, { name: path, ...given }, { opts: { test: true } })) as [
      object,
    ]
    expect(result).toMatchObject({ changes: { mode: '0600' }, result: null })
    expect(await modeOf('a')).toBe(0o640)
  })

  test('check_perms fails for a user that does not exist', async () => {
    const [result] = (await ask(file.check_perms, { name: path, ...given, user: 'no-such-user' })) as [object]
    expect(result).toMatchObject({ result: false, changes: {} })
  })
})

describe('Programs', () => {
  test('sed edits a file and keeps a copy', async () => {
    const edited = await ask(file.sed, { path, before: '8/?0', after: '9/1' })
    expect(edited).toMatchObject({ retcode: 0, stdout: '', stderr: '' })
    expect(await content()).toBe(CONTENT.replace('80', '9/1'))
    expect(await content('a.bak')).toBe(CONTENT)
    expect(await ask(file.sed_contains, { path, text: '9/1' })).toBe(true)
    expect(await ask(file.sed_contains, { path, text: 'none' })).toBe(false)
    expect(await ask(file.sed, { path: `${path}x`, before: 'a', after: 'b' })).toBe(false)
  })

  test('patch applies a diff, to a file or a folder', async () => {
    const diff = await ask(file.replace, { path, pattern: '80', repl: '81', dry_run: true })
    const patchfile = join(folder, 'diff')
    await writeFile(patchfile, String(diff).replace('--- ', '--- a').replace('+++ ', '+++ a'))
    const given = { originalfile: path, patchfile }
    expect(await ask(file.patch, { ...given, dry_run: true })).toMatchObject({ retcode: 0 })
    expect(await content()).toBe(CONTENT)
    expect(await ask(file.patch, { ...given, originalfile: folder })).toMatchObject({ retcode: 0 })
    expect(await content()).toBe(CONTENT.replace('80', '81'))
  })

  test('patch creates a missing file, and reports errors with its own path', async () => {
    const patchfile = join(folder, 'diff')
    const originalfile = join(folder, 'new')
    await writeFile(patchfile, '--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+made\n')
    expect(await ask(file.patch, { originalfile, patchfile })).toMatchObject({ retcode: 0 })
    expect(await content('new')).toBe('made\n')
    await writeFile(patchfile, 'no patch\n')
    expect(await ask(file.patch, { originalfile: path, patchfile })).toMatchObject({
      retcode: 2,
      stderr: expect.stringMatching(/^\/.*patch: \*{4} Only garbage was found in the patch input\.$/),
    })
  })

  test('patch returns the error of the program about a missing patch', async () => {
    const patchfile = join(folder, 'none')
    expect(await ask(file.patch, { originalfile: path, patchfile })).toMatchObject({
      retcode: 2,
      stdout: '',
      stderr: expect.stringContaining(`Can't open patch file ${patchfile} : No such file or directory`),
    })
  })

  test('find returns the error for an invalid pattern or owner', async () => {
    const find = (options: object) => ask(file.find, { path: folder, kwargs: options })
    expect(await find({ regex: '(' })).toBe('error: invalid regular expression: "("')
    expect(await find({ owner: 'no-such-user' })).toBe('error: no such user "no-such-user"')
    expect(await find({ group: 'no-such-group' })).toBe('error: no such group "no-such-group"')
    expect(await find({ owner: `${process.getuid?.()}`, type: 'f' })).toContain(path)
  })

  test('mkdir refuses a mode that is not octal, and makes nothing', async () => {
    const dir_path = join(folder, 'made')
    await expect(ask(file.mkdir, { dir_path, mode: 'abc' })).rejects.toThrow(
      "has to be octal digits, such as 0755, not '0abc'",
    )
    expect(await ask(file.directory_exists, { path: dir_path })).toBe(false)
  })

  test('join needs a part, and normpath keeps two leading slashes', async () => {
    await expect(async () => ask(file.join, { args: [] })).rejects.toThrow('Name at least one part')
    expect(await ask(file.normpath, { path: '//a//b/' })).toBe('//a/b')
    expect(await ask(file.normpath, { path: '///a' })).toBe('/a')
  })

  test('grep returns matching lines, and accepts a pattern that looks like an option', async () => {
    await writeFile(path, '--help\nport\n')
    expect(await ask(file.grep, { path, pattern: '--help' })).toMatchObject({ retcode: 0, stdout: '--help' })
    expect(await ask(file.grep, { path: `${folder}/*`, pattern: 'PORT', opts: ['-i', '-c'] })).toMatchObject({
      stdout: '1',
    })
    expect(await ask(file.grep, { path, pattern: 'port', opts: ['-e'] })).toMatchObject({ stdout: 'port' })
    await expect(ask(file.grep, { path, pattern: 'x', opts: ['-i -v'] })).rejects.toThrow(
      'Passing multiple command line arguments in a single string is not supported',
    )
  })

  test('attributes are read and set (stand-ins)', async () => {
    const programs = join(folder, 'bin')
    await stubProgram(programs, 'lsattr', `echo "----i---------e------- $1"`)
    await stubProgram(programs, 'chattr', `echo "$(pwd -P) $@" > ${folder}/words`)
    expect(await ask(file.lsattr, { path })).toEqual({ [path]: ['i', 'e'] })
    expect(await ask(file.chattr, { files: [path], operator: 'add', attributes: 'ai' })).toBe(true)
    expect(await content('words')).toBe(`${folder} +ai ./a\n`)
    await expect(ask(file.chattr, { files: [path] })).rejects.toThrow("Need an operator: 'add' or 'remove'")
  })

  test('the context of a file is read and set (stand-ins)', async () => {
    const programs = join(folder, 'bin')
    await stubProgram(programs, 'stat', 'echo system_u:object_r:etc_t:s0')
    await stubProgram(programs, 'chcon', `echo "$@" > ${folder}/words`)
    expect(await ask(file.get_selinux_context, { path })).toBe('system_u:object_r:etc_t:s0')
    expect(await ask(file.set_selinux_context, { path, type: 'tmp_t' })).toBe('system_u:object_r:etc_t:s0')
    expect(await content('words')).toMatch(/^-t tmp_t -- \/proc\/\d+\/fd\/\d+\n$/)
    await stubProgram(programs, 'restorecon', `echo "$(pwd -P) $@" > ${folder}/words`)
    expect(await ask(file.restorecon, { path, recursive: true })).toBe(true)
    expect(await content('words')).toBe(`${folder} -FR -- ./a\n`)
    expect(await ask(file.set_selinux_context, { path })).toBe(false)
    await expect(ask(file.set_selinux_context, { path, type: 'x', persist: true })).rejects.toThrow(
      'cannot be kept in the policy',
    )
    const meta = { name: path, source_sum: null, mode: null, setype: 'tmp_t' }
    expect(await ask(file.check_file_meta, meta)).toEqual({ selinux: { type: 'tmp_t' } })
  })

  test('apply_template_on_contents renders with a context over defaults', SLOW, async () => {
    const given = { contents: '{{ x }}{{ y }}\n', template: 'jinja', context: { x: 1 }, saltenv: 'base' }
    const defaults = { x: 5, y: 6 }
    expect(await ask(file.apply_template_on_contents, { ...given, defaults })).toBe('16\n')
    await expect(ask(file.apply_template_on_contents, { ...given, defaults: {} })).rejects.toThrow(
      "Jinja variable 'y' is undefined; line 1",
    )
    expect(await ask(file.apply_template_on_contents, { ...given, defaults, template: 'foo' })).toEqual({
      result: false,
      comment: 'Specified template format foo is not supported',
    })
  })

  test('a source for Jinja is rendered into a temporary file, which manage_file takes and removes', async () => {
    const target = join(folder, 'target')
    const source = { name: target, source: path, source_hash: '', source_hash_name: '' }
    const rest = { user: '', group: '', attrs: '', saltenv: '', defaults: '' }
    const given = { ...source, ...rest, template: 'jinja', mode: '0640', context: { b: 'c' } }
    await writeFile(path, 'a {{ b }} {{ mode }}\n')
    const [sfn, source_sum, comment] = (await ask(file.get_managed, given)) as [string, object, string]
    expect([await readFile(sfn, 'utf8'), comment]).toEqual(['a c 0640\n', ''])
    expect((await stat(sfn)).mode & 0o777).toBe(0o600)
    expect(source_sum).toEqual({ hash_type: 'sha256', hsum: await ask(file.get_hash, { path: sfn }) })
    const managed = {
      ...given,
      sfn,
      source_sum,
      ret: {},
      backup: '',
      contents: undefined,
      dir_mode: undefined,
    }
    const { source_hash: _, source_hash_name: __, context: ___, defaults: ____, ...options } = managed
    const call = (async () => '') as unknown as Context['call']
    expect(await ask(file.manage_file, options, { call })).toMatchObject({ result: true })
    expect(await readFile(target, 'utf8')).toBe('a c 0640\n')
    await expect(stat(sfn)).rejects.toThrow('ENOENT')
    expect(await ask(file.check_managed_changes, given)).toEqual({})
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('__salt.tmp.'))).toEqual([])
  })

  test('a source that cannot be rendered is named with its line', async () => {
    const given = { name: '/x', template: 'jinja', source: path, source_hash: '', source_hash_name: '' }
    const rest = { user: '', group: '', mode: '', attrs: '', saltenv: '', context: '', defaults: '' }
    await writeFile(path, 'a\n{{ b }}')
    const wrong = "Jinja variable 'b' is undefined; line 2\n\n---\na\n{{ b }}    <======================\n---"
    expect(await ask(file.get_managed, { ...given, ...rest })).toEqual([path, {}, wrong])
    expect(await ask(file.get_managed, { ...given, ...rest, template: 'foo' })).toEqual([
      path,
      {},
      'Specified template format foo is not supported',
    ])
  })

  test('mknod makes a pipe once, with the folders above it, and refuses other types', async () => {
    const pipe = join(folder, 'new/pipe')
    const given = { name: pipe, ntype: 'p', mode: '0640' }
    const made = { name: pipe, changes: { new: `Fifo pipe ${pipe} created.` }, comment: '', result: true }
    expect(await ask(file.mknod, given)).toEqual(made)
    expect(await ask(file.is_fifo, { name: pipe })).toBe(true)
    expect(await modeOf('new/pipe')).toBe(0o640)
    expect(await ask(file.mknod, given)).toMatchObject({
      comment: `File ${pipe} exists and cannot be overwritten`,
      result: false,
    })
    await expect(ask(file.mknod, { name: '/x', ntype: 'q' })).rejects.toThrow("Node type unavailable: 'q'.")
    expect(await ask(file.get_devmm, { name: '/dev/null' })).toEqual([1, 3])
  })
})
