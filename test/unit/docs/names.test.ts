/** Names of files, scripts and programs in the documentation are those of the project. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { programNames } from '../../../core/cli/program/program-names.ts'
import { programs } from '../../../core/cli/programs.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const rooms = readdirSync(join(root, 'core'))
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => !/^(write-a|cookbook|develop)/.test(name)) // they name files of their readers
    .map((name) => `docs/${name}`),
  ...rooms.map((room) => `core/${room}/README.md`),
]
const texts = pages.map((page) => [page, readFileSync(join(root, page), 'utf8')] as const)

/** Return what a pattern captures in all pages that has a reason to be wrong. */
const wrong = (pattern: RegExp, isRight: (name: string) => boolean): string[] =>
  texts.flatMap(([page, text]) =>
    [...text.matchAll(pattern)]
      .map(([, name]) => name as string)
      .filter((name) => !isRight(name))
      .map((name) => `${page}: ${name}`),
  )

test('every file and folder that is named exists', () => {
  const paths = /`((?:core|test|modules|runners|returners|plugins|bin|docs)\/[\w./-]*)`/g
  expect(wrong(paths, (path) => /NAME/.test(path) || existsSync(join(root, path)))).toEqual([])
})

test('every npm script that is named is in package.json', () => {
  expect(wrong(/npm run ([\w:-]+)/g, (name) => Object.hasOwn(manifest.scripts, name))).toEqual([])
})

test('every program is named with its file in bin and its man page', () => {
  const names = programNames().sort()
  expect(programs.map(({ id }) => id).sort()).toEqual(names)
  expect(manifest.man).toEqual(names.map((name) => `dist/man/${name}.1`))
  expect(names.filter((name) => !existsSync(join(root, 'bin', name)))).toEqual([])
})

test('CONTRIBUTING shows every room', () => {
  const [, contributing = ''] = texts.find(([page]) => page === 'CONTRIBUTING.md') ?? []
  expect(rooms.filter((room) => !contributing.includes(`\`${room}\``))).toEqual([])
})

describe.each(rooms)('the README of the room %s', (room) => {
  const folder = join(root, 'core', room)
  const text = readFileSync(join(folder, 'README.md'), 'utf8')

  test('names files and folders that exist, and every folder', () => {
    const named = [...text.matchAll(/`([\w-]+(?:\/[\w-]*)*(?:\/|\.ts))`/g)].map(([, name]) => name as string)
    const missing = named.filter((name) => !existsSync(join(folder, name)) && !existsSync(join(root, name)))
    expect(missing).toEqual([])
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.filter(({ name }) => !text.includes(`\`${name}/`))).toEqual([])
  })

  test('names every file of the room itself; files in folders may be named by their folder', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'index.ts')
    expect(files.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  test('has 10 to 35 lines', () => {
    const lines = text.trimEnd().split('\n').length
    expect(lines).toBeGreaterThanOrEqual(10)
    expect(lines).toBeLessThanOrEqual(35)
  })
})
