import { appendFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ImportedFiles } from '../../../../core/cli/watch/imported-files.ts'

let files: ImportedFiles
beforeEach(async () => {
  files = await ImportedFiles.open()
  await files.begin()
})
afterEach(() => files.close())

const report = (file: string) =>
  appendFile(Object.values(files.env)[0] as string, `${pathToFileURL(file).href}\n`)

test('of several saved files the imported one counts, whatever its extension', async () => {
  await report('/none/a.ts')
  await report('/none/b.json')
  expect(await files.firstRelevant(['/none/x.log', '/none/b.json'], false)).toBe('/none/b.json')
  expect(await files.firstRelevant(['/none/x.log', '/none/x.json'], true)).toBeUndefined()
})

test('a source file that was not imported counts once', async () => {
  await report('/none/a.ts')
  expect(await files.firstRelevant(['/none/new.js'], false)).toBe('/none/new.js')
  expect(await files.firstRelevant(['/none/new.js'], true)).toBeUndefined()
})

test('a source file that was imported, deleted and written again counts each time', async () => {
  for (let round = 0; round < 3; round++) {
    await report('/none/a.ts')
    expect(await files.firstRelevant(['/none/a.ts'], false)).toBe('/none/a.ts')
    await files.begin()
    expect(await files.firstRelevant(['/none/a.ts'], true)).toBe('/none/a.ts')
  }
})

test('if a run failed before it imported anything, every source file counts, and nothing else', async () => {
  for (let round = 0; round < 2; round++)
    expect(await files.firstRelevant(['/none/x.log', '/none/a.ts'], true)).toBe('/none/a.ts')
  expect(await files.firstRelevant(['/none/a.ts'], false)).toBeUndefined()
})
