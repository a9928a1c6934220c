/** Attacks of an unprivileged account on a minion that runs as root and works on files in a folder of that account. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { type Context, SaltInvocationError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as file from '../../../../modules/file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { needs, ROOT } from '../../../harness/needs.ts'
import { SLOW } from '../../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from '../context.ts'

const STRANGER = 65534
const SECRET = 'secret = 1\n'

let folder: string
/** A folder that the stranger owns. */
let theirs: string
/** A folder of root, with a file that the stranger may not read. */
let ours: string
let victim: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-attack-')
  await chmod(folder, 0o755)
  theirs = join(folder, 'theirs')
  ours = join(folder, 'ours')
  victim = join(ours, 'f')
  await mkdir(theirs)
  await chown(theirs, STRANGER, STRANGER)
  await mkdir(ours)
  await writeFile(victim, SECRET)
  await chmod(victim, 0o600)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await removeFolder(folder)
})

const context = (overrides: Partial<Context> = {}) =>
  fakeContext({
    opts: { cachedir: join(folder, 'cache') },
    call: (async (name: string, given: { backup?: string; path?: string }) => {
      if (name === 'config.backup_mode') return given.backup
      if (name === 'cp.cache_file') return given.path
      return false
    }) as unknown as Context['call'],
    ...overrides,
  })
const ask = (fn: AnyFn, given: object, overrides: Partial<Context> = {}) =>
  call(fn, given as Record<string, unknown>, context(overrides))
/** What a function answers, or the error that it throws. */
const outcome = (fn: AnyFn, given: object): Promise<unknown> =>
  Promise.resolve(ask(fn, given)).catch((error: Error) => error)

async function plantLink(target: string, name = 'f'): Promise<string> {
  const path = join(theirs, name)
  await symlink(target, path)
  await lchown(path, STRANGER, STRANGER)
  return path
}

async function theirFile(name: string, content: string, mode = 0o644): Promise<string> {
  const path = join(theirs, name)
  await writeFile(path, content)
  await chown(path, STRANGER, STRANGER)
  await chmod(path, mode)
  return path
}

function plantPipe(name = 'f'): string {
  execFileSync('mkfifo', ['-m', '666', join(theirs, name)])
  return join(theirs, name)
}

async function victimState() {
  const { uid, gid, mode, mtimeMs, size } = await stat(victim)
  return {
    uid,
    gid,
    mode,
    mtimeMs,
    size,
    content: await readFile(victim, 'utf8'),
    names: await readdir(ours),
  }
}

/** Every function that changes the file at a path, with arguments that would change the victim. */
const changes: [name: string, fn: AnyFn, given: (path: string) => object][] = [
  ['set_mode', file.set_mode, (path) => ({ path, mode: '0666' })],
  ['chown', file.chown, (path) => ({ path, user: STRANGER, group: STRANGER })],
  ['chgrp', file.chgrp, (path) => ({ path, group: STRANGER })],
  ['lchown', file.lchown, (path) => ({ path, user: STRANGER, group: STRANGER })],
  [
    'check_perms',
    file.check_perms,
    (name) => ({ name, user: STRANGER, mode: '0666', follow_symlinks: true }),
  ],
  ['check_perms without links', file.check_perms, (name) => ({ name, user: STRANGER, mode: '0666' })],
  ['touch', file.touch, (name) => ({ name, mtime: 1 })],
  ['write', file.write, (path) => ({ path, lines: ['x'] })],
  ['append', file.append, (path) => ({ path, lines: ['x'] })],
  ['prepend', file.prepend, (path) => ({ path, lines: ['x'] })],
  ['seek_write', file.seek_write, (path) => ({ path, data: 'x', offset: 0 })],
  ['truncate', file.truncate, (path) => ({ path, length: 0 })],
  ['replace', file.replace, (path) => ({ path, pattern: 'secret', repl: 'x' })],
  [
    'replace of a new file',
    file.replace,
    (path) => ({ path, pattern: '1', repl: 'x', preserve_inode: false }),
  ],
  ['psed', file.psed, (path) => ({ path, before: 'secret', after: 'x' })],
  ['sed', file.sed, (path) => ({ path, before: 'secret', after: 'x' })],
  ['line', file.line, (path) => ({ path, mode: 'insert', location: 'end', content: 'x', backup: true })],
  ['comment', file.comment, (path) => ({ path, regex: 'secret' })],
  ['comment_line', file.comment_line, (path) => ({ path, regex: 'secret' })],
  ['uncomment', file.uncomment, (path) => ({ path, regex: 'ecret', char: 's' })],
  [
    'blockreplace',
    file.blockreplace,
    (path) => ({ path, content: 'x', append_if_not_found: true, append_newline: true }),
  ],
  ['copy', file.copy, (dst) => ({ src: '/bin/true', dst })],
  [
    'manage_file',
    file.manage_file,
    (name) => ({ name, contents: 'x\n', user: STRANGER, mode: '0666', backup: 'minion' }),
  ],
  ['patch', file.patch, (originalfile) => ({ originalfile, patchfile: join(folder, 'diff') })],
]
const DIFF = '--- f\n+++ f\n@@ -1 +1 @@\n-secret = 1\n+x = 1\n'

/** Functions that change names in the folder of a path. */
const moves: typeof changes = [
  ['remove', file.remove, (path) => ({ path })],
  ['rename', file.rename, (src) => ({ src, dst: join(folder, 'moved') })],
  ['rename to', file.rename, (path) => ({ src: join(folder, 'diff'), dst: path })],
  ['move', file.move, (src) => ({ src, dst: join(folder, 'moved') })],
  ['move to', file.move, (path) => ({ src: join(folder, 'diff'), dst: path })],
  ['symlink', file.symlink, (path) => ({ src: 'x', path, force: true })],
  ['link', file.link, (path) => ({ src: join(folder, 'diff'), path: `${path}2` })],
  ['mknod', file.mknod, (path) => ({ name: `${path}2`, ntype: 'p' })],
  ['mkdir', file.mkdir, (path) => ({ dir_path: `${path}2/x` })],
  ['makedirs', file.makedirs, (path) => ({ path: `${path}2/x` })],
  ['rmdir', file.rmdir, (path) => ({ path: path.replace(/\/f$/, ''), recurse: true })],
  ['copy with recurse', file.copy, (path) => ({ src: '/etc/default', dst: `${path}2`, recurse: true })],
]

describe('A planted link', needs(ROOT), () => {
  beforeEach(() => writeFile(join(folder, 'diff'), DIFF))

  test.each(changes)('to a file of root is not followed by %s', async (_, fn, given) => {
    const path = await plantLink(victim)
    const before = await victimState()
    await outcome(fn, given(path))
    expect(await victimState()).toEqual(before)
  })

  test.each([...changes, ...moves])('to a folder of root is not followed by %s', async (_, fn, given) => {
    const path = await plantLink(ours, 'sub')
    const before = await victimState()
    await outcome(fn, given(join(path, 'f')))
    expect(await victimState()).toEqual(before)
  })

  test.each(changes)('that is a hard link of a file of root is not changed by %s', async (_, fn, given) => {
    const path = join(theirs, 'f')
    await link(victim, path)
    const before = await victimState()
    await outcome(fn, given(path))
    expect(await victimState()).toEqual(before)
  })

  test('in a folder that a group may write to is not changed either', async () => {
    const shared = join(folder, 'shared')
    await mkdir(shared)
    await chown(shared, 0, STRANGER)
    await chmod(shared, 0o775)
    await link(victim, join(shared, 'f'))
    const before = await victimState()
    await expect(ask(file.write, { path: join(shared, 'f'), lines: ['x'] })).rejects.toThrow('is a hard link')
    expect(await victimState()).toEqual(before)
  })

  test('is not followed in a folder that is copied over', async () => {
    const dst = join(theirs, 'd')
    await mkdir(join(dst, 'in'), { recursive: true })
    await symlink(ours, join(dst, 'sub'))
    await link(victim, join(dst, 'in/f'))
    const src = join(folder, 'src')
    await mkdir(join(src, 'sub'), { recursive: true })
    await mkdir(join(src, 'in'))
    await writeFile(join(src, 'sub/f'), 'x')
    await writeFile(join(src, 'in/f'), 'x')
    const before = await victimState()
    await outcome(file.copy, { src, dst, recurse: true })
    expect(await victimState()).toEqual(before)
  })

  test('is not read as the source of a managed file', async () => {
    const source = await plantLink(victim)
    const name = join(folder, 'public')
    await outcome(file.manage_file, { name, sfn: source, source, mode: '0644' })
    expect(await readFile(name, 'utf8').catch(() => '')).not.toContain('secret')
  })

  test('is not read as the source of a copy', async () => {
    const src = await plantLink(victim)
    const dst = join(folder, 'public')
    await writeFile(dst, '')
    expect(String(await outcome(file.copy, { src, dst }))).toContain('may have planted')
    expect(await readFile(dst, 'utf8')).toBe('')
  })

  test('at the name of a backup is not followed', async () => {
    const path = await theirFile('a', SECRET)
    await plantLink(victim, 'a.bak')
    const before = await victimState()
    await ask(file.replace, { path, pattern: '1', repl: '2' })
    expect(await victimState()).toEqual(before)
    expect(await readFile(`${path}.bak`, 'utf8')).toBe(SECRET)
  })

  test('into /proc is not followed', async () => {
    const other = spawn('sleep', ['60'], { uid: STRANGER, gid: STRANGER })
    try {
      const path = await plantLink(`/proc/${other.pid}/oom_score_adj`)
      const before = await readFile(path, 'utf8')
      const said = await outcome(file.write, { path, lines: ['7'] })
      expect(await readFile(path, 'utf8')).toBe(before)
      expect(String(said)).toContain('may have planted')
    } finally {
      other.kill()
      await once(other, 'exit')
    }
  })
})

describe('Set-uid bits', needs(ROOT), () => {
  test('of a file of another user do not survive a new owner', async () => {
    const name = await theirFile('sh', 'x', 0o4755)
    await ask(file.check_perms, { name, user: 'root', mode: null })
    expect((await stat(name)).mode & 0o6000).toBe(0)
  })

  test('are not set on a file of another user together with a new owner', async () => {
    const name = await theirFile('sh', 'x', 0o755)
    const [result] = (await ask(file.check_perms, { name, user: 'root', mode: '4755' })) as [
      { result: unknown },
    ]
    const { uid, mode } = await stat(name)
    expect(uid === 0 && (mode & 0o4000) !== 0).toBe(false)
    expect(result).toMatchObject({ result: false })
  })

  test('are kept by check_perms if the mode asks for them', async () => {
    const name = join(ours, 'tool')
    await writeFile(name, 'x')
    await chmod(name, 0o4755)
    await ask(file.check_perms, { name, user: STRANGER, mode: '4755' })
    expect((await stat(name)).mode & 0o7777).toBe(0o4755)
  })

  test('are set on a managed file together with its new content', async () => {
    const name = await theirFile('sh', 'old', 0o755)
    const result = await ask(file.manage_file, {
      name,
      contents: 'new',
      user: 'root',
      group: 'root',
      mode: '4755',
    })
    expect(result).toMatchObject({ result: true })
    expect(await stat(name)).toMatchObject({ uid: 0, mode: 0o104755 })
  })
})

describe('A named pipe', needs(ROOT), () => {
  beforeEach(() => writeFile(join(folder, 'diff'), DIFF))
  const reads: typeof changes = [
    ['read', file.read, (path) => ({ path })],
    ['get_hash', file.get_hash, (path) => ({ path })],
    ['contains', file.contains, (path) => ({ path, text: 'x' })],
    ['search', file.search, (path) => ({ path, pattern: 'x' })],
    ['seek_read', file.seek_read, (path) => ({ path, size: 1, offset: 0 })],
    ['grep', file.grep, (path) => ({ path, pattern: 'x' })],
    ['sed_contains', file.sed_contains, (path) => ({ path, text: 'x' })],
    ['get_diff', file.get_diff, (file1) => ({ file1, file2: '/etc/passwd' })],
    ['extract_hash', file.extract_hash, (hash_fn) => ({ hash_fn })],
    ['find', file.find, (path) => ({ path, kwargs: { grep: 'x', print: 'md5' } })],
    ['copy from', file.copy, (src) => ({ src, dst: join(folder, 'copied') })],
    ['copy a folder from', file.copy, () => ({ src: theirs, dst: join(folder, 'copied'), recurse: true })],
    ['patch by', file.patch, (patchfile) => ({ originalfile: join(folder, 'diff'), patchfile })],
    ['manage_file from', file.manage_file, (sfn) => ({ name: join(folder, 'new'), sfn, source: sfn })],
  ]

  test.each([...reads, ...changes])(
    'does not make %s wait',
    async (_, fn, given) => {
      await outcome(fn, given(plantPipe()))
    },
    5000,
  )

  test.each(changes.filter(([name]) => /write|append|prepend|truncate/.test(name)))(
    'whose other end is open is not written to by %s',
    async (_, fn, given) => {
      const path = plantPipe()
      const reader = spawn('cat', [path], { uid: STRANGER, gid: STRANGER })
      let heard = ''
      reader.stdout.on('data', (chunk) => (heard += chunk))
      const writer = spawn('sh', ['-c', 'exec 3>"$0"; echo open; read -r line', path])
      await once(writer.stdout, 'data')
      expect(String(await outcome(fn, given(path)))).toContain('is a named pipe')
      writer.stdin.end('\n')
      await once(reader, 'close')
      expect(heard).toBe('')
    },
    5000,
  )
})

describe('A file of ten gigabytes', needs(ROOT), () => {
  const LIMIT_MS = 20_000
  let path: string
  beforeEach(async () => {
    path = await theirFile('f', '')
    await truncate(path, 10 * 2 ** 30)
    await writeFile(join(folder, 'diff'), DIFF)
  })

  test.each<(typeof changes)[number]>([
    ['read', file.read, (path) => ({ path })],
    ['search', file.search, (path) => ({ path, pattern: 'x' })],
    ['contains_regex', file.contains_regex, (path) => ({ path, regex: 'x' })],
    ['sed_contains', file.sed_contains, (path) => ({ path, text: 'x' })],
    ['extract_hash', file.extract_hash, (hash_fn) => ({ hash_fn })],
    ['patch by', file.patch, (patchfile) => ({ originalfile: join(folder, 'diff'), patchfile })],
    ...changes.filter(([name]) => /replace|sed|line|comment|prepend|patch/.test(name)),
  ])(
    'is refused by %s',
    async (_, fn, given) => {
      expect(await outcome(fn, given(path))).toBeInstanceOf(Error)
      expect((await stat(path)).size).toBe(10 * 2 ** 30)
    },
    LIMIT_MS,
  )

  test('keeps its holes in a backup', { ...SLOW, timeout: LIMIT_MS }, async () => {
    await truncate(path, 2 ** 30)
    await ask(file.manage_file, { name: path, contents: 'x\n', backup: 'minion' })
    const [row] = Object.values(
      (await ask(file.list_backups, { path })) as Record<string, { Location: string }>,
    )
    const { size, blocks } = await stat(row?.Location ?? '')
    expect(size).toBe(2 ** 30)
    expect(blocks).toBeLessThan(1000)
  })
})

describe('Contents that other users may not read', needs(ROOT), () => {
  test('are never readable in a copy', async () => {
    const dst = join(folder, 'public')
    const seen = new Set<number>()
    let isOver = false
    const watch = (async () => {
      while (!isOver) {
        const found = await lstat(dst).catch(() => undefined)
        if (found) seen.add(found.mode & 0o777)
      }
    })()
    for (let round = 0; round < 40; round++) {
      await ask(file.copy, { src: victim, dst })
      await ask(file.remove, { path: dst })
    }
    isOver = true
    await watch
    expect([...seen].filter((mode) => mode !== 0o600)).toEqual([])
  })

  test('stay private when a backup is restored in place of a missing file', async () => {
    await ask(file.manage_file, { name: victim, contents: 'x\n', backup: 'minion' })
    await ask(file.remove, { path: victim })
    expect(await ask(file.restore_backup, { path: victim, backup_id: 0 })).toMatchObject({ result: true })
    expect((await stat(victim)).mode & 0o777).toBe(0o600)
  })
})

describe('A folder that is replaced by a link meanwhile', needs(ROOT), () => {
  test('leads no function outside', SLOW, async () => {
    await writeFile(join(folder, 'diff'), DIFF)
    const sub = join(theirs, 'sub')
    const racing = spawn(
      process.execPath,
      [
        '-e',
        `const fs = require('node:fs'), [sub, ours] = process.argv.slice(1)
         try { fs.symlinkSync(ours, sub + '.l') } catch {}
         const move = (from, to) => { try { fs.renameSync(from, to) } catch {} }
         try { fs.mkdirSync(sub) } catch {}
         console.log('begun')
         for (;;) {
           try { fs.mkdirSync(sub) } catch {}
           try { fs.writeFileSync(sub + '/f', 'secret = 1\\n') } catch {}
           move(sub, sub + '.d'); move(sub + '.l', sub); move(sub, sub + '.l'); move(sub + '.d', sub)
         }`,
        sub,
        ours,
      ],
      { uid: STRANGER, gid: STRANGER },
    )
    try {
      await once(racing.stdout, 'data')
      const before = await victimState()
      for (let round = 0; round < 12; round++)
        for (const [, fn, given] of [...changes, ...moves]) {
          await writeFile(join(folder, 'diff'), DIFF)
          await outcome(fn, given(join(sub, 'f')))
        }
      expect(await victimState()).toEqual(before)
    } finally {
      racing.kill()
      await once(racing, 'exit')
    }
  })
})

describe('Wrong input', () => {
  beforeEach(() => writeFile(join(folder, 'diff'), DIFF))

  test('an empty path does not mean the working folder', async () => {
    vi.spyOn(process, 'cwd').mockReturnValue(ours)
    const facts = async () => {
      const { uid, gid, mode, mtimeMs } = await stat(ours)
      return { uid, gid, mode, mtimeMs }
    }
    const before = await facts()
    for (const [, fn, given] of changes.slice(0, 7)) await outcome(fn, given(''))
    expect(await facts()).toEqual(before)
  })

  test.each([...changes, ...moves])(
    'a path with a zero byte is refused with a sentence by %s',
    async (_, fn, given) => {
      const said = await outcome(fn, given(join(folder, 'a\0b')))
      if (said instanceof Error) expect(said).toBeInstanceOf(SaltInvocationError)
      else expect(JSON.stringify(said)).toMatch(/zero byte|"retcode":[12]|not found/i)
    },
  )

  test('a suffix of a backup cannot lead to another folder', async () => {
    const path = join(folder, 'a')
    await writeFile(path, 'x\n')
    await expect(ask(file.replace, { path, pattern: 'x', repl: 'y', backup: '/../ours/b' })).rejects.toThrow(
      'backup',
    )
    expect(await readFile(path, 'utf8')).toBe('x\n')
  })

  test('a path with dots lists no backups outside', async () => {
    const stamp = 'f_Mon_Jul_04_10:11:12_123456_2016'
    await writeFile(join(ours, stamp), 'x')
    expect(await ask(file.list_backups, { path: `/../../ours/f` })).toEqual({})
  })

  test.each([
    ['search', file.search, { pattern: '(' }],
    ['contains_regex', file.contains_regex, { regex: '(' }],
    ['replace', file.replace, { pattern: '(', repl: 'x' }],
    ['a replacement', file.replace, { pattern: 'x', repl: '\\2' }],
    ['line', file.line, { mode: 'delete', match: 'x(' }],
    ['comment', file.comment, { regex: '(' }],
  ] as [string, AnyFn, object][])('a wrong pattern is an error in %s', async (_, fn, given) => {
    const path = join(folder, 'a')
    await writeFile(path, 'x\n')
    await expect(ask(fn, { path, ...given })).rejects.toThrow(SaltInvocationError)
  })

  test('a pattern that takes forever is stopped', SLOW, async () => {
    const path = join(folder, 'a')
    await writeFile(path, `${'a'.repeat(40)}!\n`)
    await expect(ask(file.search, { path, pattern: '(a+)+$' })).rejects.toThrow('it takes longer than 10 s')
  })

  test('a file is not copied to itself, nor a folder made where a file is', async () => {
    const path = join(folder, 'a')
    await writeFile(path, 'x\n')
    await symlink('a', join(folder, 'l'))
    await expect(ask(file.copy, { src: path, dst: join(folder, 'l') })).rejects.toThrow(
      'they are the same file',
    )
    await expect(ask(file.mkdir, { dir_path: path })).rejects.toThrow('[Errno 17] File exists')
  })

  test('names with line breaks are found, copied and removed', async () => {
    const name = join(folder, 'd', 'a\nb')
    await mkdir(join(folder, 'd'))
    await writeFile(name, 'x')
    expect(await ask(file.find, { path: join(folder, 'd'), kwargs: { type: 'f' } })).toEqual([name])
    await ask(file.copy, { src: join(folder, 'd'), dst: join(folder, 'e'), recurse: true })
    expect(await readFile(join(folder, 'e', 'a\nb'), 'utf8')).toBe('x')
    expect(await ask(file.find, { path: join(folder, 'd'), kwargs: { type: 'f', delete: 'f' } })).toEqual([
      name,
    ])
  })

  test('a copy with recurse keeps links as links', async () => {
    await mkdir(join(folder, 'd'))
    await symlink('/etc/shadow', join(folder, 'd/l'))
    await ask(file.copy, { src: join(folder, 'd'), dst: join(folder, 'e'), recurse: true })
    expect(await readlink(join(folder, 'e/l'))).toBe('/etc/shadow')
  })

  test('a tree of 400 nested folders is removed', SLOW, async () => {
    execFileSync('sh', ['-c', 'cd "$0" && for i in $(seq 400); do mkdir d && cd d; done', folder])
    expect(await ask(file.remove, { path: join(folder, 'd') })).toBe(true)
  })

  test('many lines are processed at once', async () => {
    const path = join(folder, 'lines')
    await writeFile(path, 'a line\n'.repeat(100_000))
    expect(await ask(file.contains_regex, { path, regex: 'none' })).toBe(false)
    expect(await ask(file.comment, { path, regex: 'none' })).toBe(false)
  }, 5000)
})
