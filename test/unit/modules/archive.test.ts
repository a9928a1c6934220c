import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandNotFoundError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as archive from '../../../modules/archive.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs } from '../../harness/needs.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'

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
afterEach(() => removeFolder(folder))

const context = () => commandContext({ 'cp.cache_file': ({ path }) => path })
const ask = (fn: AnyFn, given: object, of = context()) => call(fn, given as Record<string, unknown>, of)
const make = (...words: [string, ...string[]]) => execFileSync(words[0], words.slice(1), { cwd: folder })
const at = (name: string) => join(folder, name)

const names = ['src/', 'src/a.txt', 'src/link', 'src/sub/', 'src/sub/ö.txt']

describe('tar', () => {
  test('packs what patterns below cwd match, and unpacks it', async () => {
    const packed = { options: 'czf', tarfile: at('t.tgz'), sources: 'sr*,none*', cwd: folder }
    expect(await ask(archive.tar, packed)).toEqual([])
    expect(await ask(archive.tar, { options: '-x -f', tarfile: at('t.tgz'), dest: at('src/sub') })).toEqual(
      [],
    )
    expect(await readFile(at('src/sub/src/sub/ö.txt'), 'utf8')).toBe('two\n')
  })

  test('that fails sets the return code, and returns what tar says', async () => {
    const of = context()
    expect(await ask(archive.tar, { options: 'xf', tarfile: at('none.tar') }, of)).toContain(
      'tar: Error is not recoverable: exiting now',
    )
    expect(of.retcode).toBe(2)
  })

  test('needs options, and takes no template', async () => {
    await expect(ask(archive.tar, { options: ' ', tarfile: 'x' })).rejects.toThrow(
      'Tar options can not be empty',
    )
    await expect(ask(archive.tar, { options: 'x', tarfile: 'x', template: 'jinja' })).rejects.toThrow(
      'template is not supported',
    )
  })
})

describe('list', () => {
  test.each([
    ['t.tar', 'cf'],
    ['t.tar.gz', 'czf'],
    ['t.tbz2', 'cjf'],
  ])('knows the members of %s', async (name, options) => {
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

  test('knows those of a zip file, and removes a cached one if asked to', needs(ZIP), async () => {
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

  test('keeps odd names as they are', async () => {
    await writeFile(at('src/back\\slash\nline'), '')
    make('tar', 'cf', 't.tar', 'src')
    expect(await ask(archive.list, { name: at('t.tar') })).toContain('src/back\\slash\nline')
  })

  test('decompresses with a program that is named', async () => {
    make('tar', 'czf', 't', 'src')
    const given = { name: at('t'), archive_format: 'tar', options: 'gunzip --stdout' }
    expect(await ask(archive.list, given)).toEqual(names)
  })

  test('refuses what it cannot list', async () => {
    await writeFile(at('x'), 'text')
    const refusal = (given: object) => expect(ask(archive.list, { name: at('x'), ...given })).rejects
    await refusal({}).toThrow("Unable to guess archive format, please pass an 'archive_format' argument.")
    await refusal({ archive_format: '7z' }).toThrow("Unsupported archive format '7z'")
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

  test('is unpacked over existing files, without what is excluded', async () => {
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

  test('has the modes of the archive, or those of new files', async () => {
    await chmod(at('src/a.txt'), 0o750)
    make('zip', '-q', 't.zip', 'src/a.txt')
    const mode = async () => (await stat(at('out/src/a.txt'))).mode & 0o777
    await ask(archive.unzip, { zip_file: at('t.zip'), dest: at('out') })
    expect(await mode()).toBe(0o750)
    await ask(archive.unzip, { zip_file: at('t.zip'), dest: at('out'), extract_perms: false })
    expect(await mode()).toBe(0o666 & ~process.umask())
  })

  test('with a password is known as encrypted, and needs it', async () => {
    make('zip', '-qr', '-P', 'pw', 'e.zip', 'src')
    make('zip', '-qr', 't.zip', 'src')
    expect(await ask(archive.is_encrypted, { name: at('e.zip') })).toBe(true)
    expect(await ask(archive.is_encrypted, { name: at('t.zip') })).toBe(false)
    await expect(ask(archive.is_encrypted, { name: at('src/a.txt') })).rejects.toThrow('is not a ZIP file')
    const given = { zip_file: at('e.zip'), dest: at('out') }
    await expect(ask(archive.unzip, given)).rejects.toThrow('Exception encountered unpacking zipfile')
    expect(await ask(archive.unzip, { ...given, password: 'pw' })).toContain('src/a.txt')
    expect(await readFile(at('out/src/a.txt'), 'utf8')).toBe('one\n')
  })

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
  test('is run with lists of words, and says so if it is absent', async () => {
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
