import { link, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as file from '../../../../modules/file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { MOUNTS, needs } from '../../../harness/needs.ts'
import { mountSmallDisk, type SmallDisk } from '../../../harness/small-disk.ts'
import { type AnyFn, call, fakeContext } from '../context.ts'

const ask = (fn: AnyFn, given: Record<string, unknown>) => call(fn, given, fakeContext())

describe('On a full disk', needs(MOUNTS), () => {
  const PAGE = 4096
  /** It fills its last page, so that nothing can be added. */
  const CONTENT = `first line\n${'x'.repeat(PAGE - 12)}\n`
  let folder: string
  let disk: SmallDisk
  let path: string

  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-full-disk-')
    disk = mountSmallDisk(join(folder, 'disk'), 1)
    path = join(folder, 'disk', 'a')
  })
  afterAll(async () => {
    disk.close()
    await removeFolder(folder)
  })
  beforeEach(async () => {
    disk.makeRoom()
    await writeFile(path, CONTENT)
    disk.fill()
  })

  const text = (from = 0) => 'y'.repeat(3 * PAGE + from)

  test.each([
    ['append', file.append, { lines: [text()] }],
    ['seek_write', file.seek_write, { data: text(), offset: PAGE }],
    ['write', file.write, { lines: [text()] }],
    ['replace', file.replace, { pattern: 'first', repl: text(), backup: false }],
    ['prepend', file.prepend, { lines: [text()] }],
  ] as const)(
    'a file keeps its content when file.%s fails, and the error names the file',
    async (_, fn, given) => {
      await expect(ask(fn, { path, ...given })).rejects.toThrow(
        `[Errno 28] No space left on device: '${path}'`,
      )
      expect((await readFile(path, 'utf8')).slice(0, PAGE)).toBe(CONTENT)
      expect((await readdir(join(folder, 'disk'))).toSorted()).toEqual(['a', 'ballast'])
    },
  )

  test('append and a file with several names leave no partial content', async () => {
    await expect(ask(file.append, { path, lines: [text()] })).rejects.toThrow('No space left')
    expect(await readFile(path, 'utf8')).toBe(CONTENT)
    await link(path, `${path}2`)
    await expect(ask(file.write, { path, lines: [text()] })).rejects.toThrow('No space left')
    expect(await readFile(`${path}2`, 'utf8')).toBe(CONTENT)
    await ask(file.write, { path, lines: ['short'] })
    expect(await readFile(`${path}2`, 'utf8')).toBe('short\n')
    await ask(file.remove, { path: `${path}2` })
  })

  test('a copy, a backup and a move name the place that is full', async () => {
    const source = join(folder, 'source')
    await writeFile(source, text())
    const dst = join(folder, 'disk', 'copy')
    const full = (at: string) => `No space left on device: '${at}'`
    await expect(ask(file.copy, { src: source, dst })).rejects.toThrow(full(dst))
    await expect(ask(file.move, { src: source, dst })).rejects.toThrow(full(dst))
    await expect(ask(file.replace, { path, pattern: 'first', repl: '1st' })).rejects.toThrow(
      full(`${path}.bak`),
    )
    expect((await stat(source)).size).toBe(text().length)
    expect(await readFile(path, 'utf8')).toBe(CONTENT)
  })
})
