import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandNotFoundError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as archive from '../../../modules/archive.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs } from '../../harness/needs.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'
import { stubProgram } from './stub.ts'

const ZIP = {
  what: 'zip and unzip',
  command: 'apt-get install zip unzip',
  isMet: existsSync('/usr/bin/zip') && existsSync('/usr/bin/unzip'),
}

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-archive-')
  await mkdir(join(folder, 'src/sub'), { recursive: true })
  await writeFile(join(folder, 'src/a.txt'), 'one\n')
  await writeFile(join(folder, 'src/sub/ö.txt'), 'two\n')
  await symlink('a.txt', join(folder, 'src/link'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const context = () => commandContext({ 'cp.cache_file': ({ path }) => path })
const ask = (fn: AnyFn, given: object, of = context()) => call(fn, given as Record<string, unknown>, of)
const make = (...words: [string, ...string[]]) => execFileSync(words[0], words.slice(1), { cwd: folder })
const at = (name: string) => join(folder, name)

const names = ['src/', 'src/a.txt', 'src/link', 'src/sub/', 'src/sub/ö.txt']

describe('tar', () => {
  test('packs files that match patterns below cwd, and unpacks them', async () => {
    const packed = { options: 'czf', tarfile: at('t.tgz'), sources: 'sr*,none*', cwd: folder }
    expect(await ask(archive.tar, packed)).toEqual([])
    expect(await ask(archive.tar, { options: '-x -f', tarfile: at('t.tgz'), dest: at('src/sub') })).toEqual(
      [],
    )
    expect(await readFile(at('src/sub/src/sub/ö.txt'), 'utf8')).toBe('two\n')
  })

  test('that fails sets the return code, and returns the error of tar', async () => {
    const of = context()
    expect(await ask(archive.tar, { options: 'xf', tarfile: at('none.tar') }, of)).toContain(
      'tar: Error is not recoverable: exiting now',
    )
    expect(of.retcode).toBe(2)
  })

  test('needs options, and renders paths with a template', async () => {
    await expect(ask(archive.tar, { options: ' ', tarfile: 'x' })).rejects.toThrow(
      'Tar options can not be empty',
    )
    const given = { options: 'tf', tarfile: '/{{ "none" }}.tar', template: 'jinja' }
    expect((await ask(archive.tar, given)) as string[]).toContain(
      'tar: /none.tar: Cannot open: No such file or directory',
    )
  })
})

describe('list', () => {
  test('runs the program in options only for archives that tar cannot read by itself', async () => {
    make('tar', 'czf', 't.tgz', 'src')
    expect(await ask(archive.list, { name: at('t.tgz'), options: '-z' })).toEqual(names)
  })

  test.each([
    ['t.tar', 'cf'],
    ['t.tar.gz', 'czf'],
    ['t.tbz2', 'cjf'],
  ])('returns the members of %s', async (name, options) => {
    make('tar', options, name, 'src')
    expect(await ask(archive.list, { name: at(name) })).toEqual(names)
    expect(await ask(archive.list, { name: at(name), strip_components: 1 })).toEqual([
      'a.txt',
      'link',
      'sub/',
      'sub/ö.txt',
    ])
    expect(await ask(archive.list, { name: at(name), verbose: true })).toEqual({
      dirs: ['src/', 'src/sub/'],
      files: ['src/a.txt', 'src/sub/ö.txt'],
      links: ['src/link'],
      top_level_dirs: ['src/'],
      top_level_files: [],
      top_level_links: [],
    })
  })

  test('returns the members of a zip file, and removes a cached one on request', needs(ZIP), async () => {
    make('zip', '-qry', 't.zip', 'src')
    expect(await ask(archive.list, { name: at('t.zip') })).toEqual(names)
    make('zip', '-qrD', 'files.zip', 'src/a.txt')
    expect(await ask(archive.list, { name: at('files.zip'), verbose: true, clean: true })).toMatchObject({
      dirs: ['src/'],
      top_level_dirs: ['src/'],
      files: ['src/a.txt'],
    })
    expect(existsSync(at('files.zip'))).toBe(false)
  })

  test('keeps unusual names as they are', async () => {
    await writeFile(at('src/back\\slash\nline'), '')
    make('tar', 'cf', 't.tar', 'src')
    expect(await ask(archive.list, { name: at('t.tar') })).toContain('src/back\\slash\nline')
  })

  test('decompresses with a program that is named', async () => {
    make('tar', 'czf', 't', 'src')
    const given = { name: at('t'), archive_format: 'tar', options: 'gunzip --stdout' }
    expect(await ask(archive.list, given)).toEqual(names)
  })

  test('refuses files that it cannot list', async () => {
    await writeFile(at('x'), 'text')
    const refusal = (given: object) => expect(ask(archive.list, { name: at('x'), ...given })).rejects
    await refusal({}).toThrow("Unable to guess archive format, please pass an 'archive_format' argument.")
    await refusal({ archive_format: '7z' }).toThrow(
      `Unsupported archive format '7z'. Additional info follows:\n\narchive location:\n    ${at('x')}`,
    )
    const missing = `[Errno 2] No such file or directory: '${at('none')}'`
    await refusal({ name: at('none.tar') }).toThrow('[Errno 2] No such file or directory')
    await expect(ask(archive.is_encrypted, { name: at('none') })).rejects.toThrow(missing)
    await refusal({ archive_format: 'zip' }).toThrow('x is not a ZIP file')
    await refusal({ archive_format: 'tar' }).toThrow('Unable to list contents of')
    await refusal({ strip_components: -1 }).toThrow("'strip_components' must be a positive integer")
    const nothing = commandContext({ 'cp.cache_file': () => false })
    await expect(ask(archive.list, { name: 'salt://a.zip' }, nothing)).rejects.toThrow(
      'Failed to cache salt://a.zip',
    )
  })
})

test('gzip and gunzip replace a file', async () => {
  expect(await ask(archive.gzip, { sourcefile: at('src/a.txt') })).toEqual([])
  expect(existsSync(at('src/a.txt'))).toBe(false)
  const told = await ask(archive.gunzip, { gzipfile: at('src/a.txt.gz'), options: '--verbose' })
  expect(told).toEqual([expect.stringContaining('a.txt')])
  expect(await readFile(at('src/a.txt'), 'utf8')).toBe('one\n')
})

describe('zip', needs(ZIP), () => {
  const inside = ['src/', 'src/a.txt', 'src/link', 'src/sub/', 'src/sub/ö.txt']

  test('makes a new file with names below cwd, or below the root', async () => {
    await writeFile(at('n.zip'), 'old')
    const zip_file = at('n.zip')
    expect(await ask(archive.zip, { zip_file, sources: 's*', cwd: folder })).toEqual(inside)
    expect(await ask(archive.list, { name: zip_file })).toEqual(inside)
    expect(await ask(archive.zip, { zip_file, sources: [at('src/a.txt')] })).toEqual([
      at('src/a.txt').slice(1),
    ])
  })

  test('needs cwd for relative paths', async () => {
    const given = { zip_file: at('n.zip'), sources: 'src' }
    await expect(ask(archive.zip, given)).rejects.toThrow("Relative paths require the 'cwd' parameter")
    await expect(ask(archive.zip, { ...given, cwd: 'src' })).rejects.toThrow('cwd must be absolute')
    await expect(ask(archive.zip, { ...given, sources: 'none', cwd: folder })).rejects.toThrow(
      'none of the sources exists',
    )
  })

  test('is unpacked over existing files, except excluded ones', async () => {
    make('zip', '-qry', 't.zip', 'src')
    await writeFile(at('src/a.txt'), 'changed')
    const given = { zip_file: at('t.zip'), dest: folder, excludes: 'src/sub/ö.txt' }
    expect(await ask(archive.unzip, given)).toEqual(expect.arrayContaining(['src/', 'src/a.txt', 'src/link']))
    expect(await readFile(at('src/a.txt'), 'utf8')).toBe('one\n')
    expect(await ask(archive.unzip, { ...given, trim_output: 2 })).toEqual([
      expect.any(String),
      expect.any(String),
      'List trimmed after 2 files.',
    ])
  })

  test('sets the modes of the archive, or those of new files', async () => {
    await chmod(at('src/a.txt'), 0o750)
    make('zip', '-q', 't.zip', 'src/a.txt')
    const mode = async () => (await stat(at('out/src/a.txt'))).mode & 0o777
    await ask(archive.unzip, { zip_file: at('t.zip'), dest: at('out') })
    expect(await mode()).toBe(0o750)
    await ask(archive.unzip, { zip_file: at('t.zip'), dest: at('out'), extract_perms: false })
    expect(await mode()).toBe(0o666 & ~process.umask())
  })

  test('with a password is recognised as encrypted, and needs it', async () => {
    make('zip', '-qr', '-P', 'pw', 'e.zip', 'src')
    make('zip', '-qr', 't.zip', 'src')
    expect(await ask(archive.is_encrypted, { name: at('e.zip') })).toBe(true)
    expect(await ask(archive.is_encrypted, { name: at('t.zip') })).toBe(false)
    await expect(ask(archive.is_encrypted, { name: at('src/a.txt') })).rejects.toThrow('is not a ZIP file')
    const given = { zip_file: at('e.zip'), dest: at('out') }
    await expect(ask(archive.unzip, given)).rejects.toThrow(
      /^Exception encountered unpacking zipfile: File '.*' is encrypted, password required for extraction$/,
    )
    await expect(ask(archive.unzip, { ...given, password: 'no' })).rejects.toThrow(
      /^Exception encountered unpacking zipfile: Bad password for file '.*'$/,
    )
    expect(await ask(archive.unzip, { ...given, password: 'pw' })).toContain('src/a.txt')
    expect(await readFile(at('out/src/a.txt'), 'utf8')).toBe('one\n')
  })

  test.each([archive.unzip, archive.cmd_unzip])(
    'keeps its password out of the arguments of unzip',
    async (fn) => {
      const password = 'a "quoted\\" one '
      make('zip', '-qr', '-P', password, 'e.zip', 'src')
      await stubProgram(
        at('bin'),
        'unzip',
        `cp /proc/$$/cmdline ${at('arguments')}; exec /usr/bin/unzip "$@"`,
      )
      await ask(fn, { zip_file: at('e.zip'), dest: at('out'), password })
      expect(await readFile(at('out/src/a.txt'), 'utf8')).toBe('one\n')
      expect(await readFile(at('arguments'), 'utf8')).toContain('e.zip')
      expect(await readFile(at('arguments'), 'utf8')).not.toContain('quoted')
    },
  )

  test('is made and unpacked with the output of the programs', async () => {
    const given = { zip_file: at('c.zip'), sources: 'src/a*', cwd: folder }
    expect(await ask(archive.cmd_zip, given)).toEqual([expect.stringMatching(/adding: src\/a.txt/)])
    const unzipped = await ask(archive.cmd_unzip, { zip_file: at('c.zip'), dest: at('out'), options: '-o' })
    expect(unzipped).toContainEqual(expect.stringContaining('src/a.txt'))
    await expect(ask(archive.cmd_unzip, { zip_file: at('no.zip'), dest: at('out') })).rejects.toThrow(
      'cannot find or open',
    )
    await expect(ask(archive.unzip, { zip_file: at('src/a.txt'), dest: at('out') })).rejects.toThrow(
      'File is not a zip file',
    )
  })
})

describe('rar', () => {
  test('is run with lists of words, and reported if it is missing', async () => {
    vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
    try {
      const given = { rarfile: '/r.rar', sources: 'a b,c' }
      await expect(ask(archive.rar, given)).rejects.toThrow(CommandNotFoundError)
      await expect(ask(archive.unrar, { rarfile: '/r.rar', dest: '/d' })).rejects.toThrow(
        'were found in $PATH',
      )
      const lt =
        'if [ $1 = lt ]; then printf "        Name: d\\n        Type: Directory\\n\\n        Name: d/f x\\n        Type: File\\n"; exit; fi\n'
      await writeFile(at('rar'), `#!/bin/sh\n${lt}printf '%s\\n' "$@"\n`, { mode: 0o755 })
      expect(await ask(archive.rar, given)).toEqual(['a', '-idp', '/r.rar', 'a b', 'c'])
      expect(await ask(archive.unrar, { rarfile: '/r.rar', dest: '/d', excludes: 'x,y' })).toEqual([
        ...['x', '-idp', '/r.rar', '-x', 'x', '-x', 'y', '/d'],
      ])
      expect(await ask(archive.list, { name: '/r.rar' })).toEqual(['d/', 'd/f x'])
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

describe('files of an attacker', () => {
  test('file names that are options do not become options of the archiver', async () => {
    await mkdir(at('wild'))
    for (const name of ['--checkpoint=1', '--checkpoint-action=exec=touch ran', '-T', '-TTtouch ran', 'a'])
      await writeFile(at(`wild/${name}`), 'x')
    await ask(archive.tar, { options: 'cf', tarfile: at('w.tar'), sources: '*', cwd: at('wild') })
    if (ZIP.isMet) await ask(archive.cmd_zip, { zip_file: at('w.zip'), sources: '*', cwd: at('wild') })
    expect(existsSync(at('wild/ran'))).toBe(false)
    expect(make('tar', 'tf', 'w.tar').toString()).toContain('--checkpoint=1')
  })

  test.each([
    [archive.tar, { options: 'cf', tarfile: 'x', sources: ['--checkpoint-action=exec=id'] }],
    [archive.tar, { options: 'c', tarfile: '--use-compress-program=id' }],
    [archive.cmd_zip, { zip_file: '-TTid', sources: 'a' }],
    [archive.cmd_unzip, { zip_file: 'a', dest: '-x' }],
    [archive.gzip, { sourcefile: '--help' }],
  ])('a path that is an option is refused', async (fn, given) => {
    await expect(ask(fn as AnyFn, given)).rejects.toThrow('would be an option; if it is a file, write')
  })

  test('a ZIP file whose names lead out of the folder changes no modes there', needs(ZIP), async () => {
    await writeFile(at('private'), 'x', { mode: 0o600 })
    await mkdir(at('in/a'), { recursive: true })
    await symlink(at('private'), at('in/link'))
    await writeFile(at('in/a/b'), 'x')
    make(
      'sh',
      '-c',
      'cd in/a && zip -q ../../evil.zip ../../private && cd .. && zip -qy ../evil.zip link a/b',
    )
    await mkdir(at('p/q'), { recursive: true })
    const given = { zip_file: at('evil.zip'), dest: at('p/q'), extract_perms: false }
    expect(await ask(archive.unzip, given)).toEqual(['../../private', 'link', 'a/b'])
    expect((await stat(at('private'))).mode & 0o777).toBe(0o600)
  })

  test('a file name with a line break packs no other file', needs(ZIP), async () => {
    await mkdir(at('nl/x\nsrc'), { recursive: true })
    await writeFile(at('nl/x\nsrc/a.txt'), 'bait')
    await writeFile(at('nl/good'), 'x')
    const of = context()
    expect(await ask(archive.zip, { zip_file: at('n.zip'), sources: 'nl', cwd: folder }, of)).toEqual([
      'nl/',
      'nl/good',
    ])
    expect(of.lines.map(({ message }) => message)).toContain(
      '2 files are not packed: their names have line breaks',
    )
    expect(make('unzip', '-Z1', 'n.zip').toString()).toBe('nl/\nnl/good\n')
  })

  test('a FIFO is no ZIP file, and a directory of gigabytes is not read', async () => {
    make('mkfifo', 'fifo')
    await expect(ask(archive.is_encrypted, { name: at('fifo') })).rejects.toThrow('is not a ZIP file')
    const end = Buffer.alloc(22)
    end.writeUInt32LE(0x06054b50, 0)
    end.writeUInt16LE(1, 10)
    end.writeUInt32LE(3_000_000_000, 12)
    await truncate(at('src/a.txt'), 3_000_000_000)
    await writeFile(at('src/a.txt'), end, { flag: 'a' })
    await expect(ask(archive.is_encrypted, { name: at('src/a.txt') })).rejects.toThrow('that is too large')
  })
})
