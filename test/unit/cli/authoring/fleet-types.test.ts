import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { p } from '../../../../core/author/index.ts'
import { Catalogues } from '../../../../core/cache/catalogues.ts'
import { schemaType } from '../../../../core/cli/authoring/schema-types.ts'
import { writeFleetTypes } from '../../../../core/cli/authoring/write-fleet-types.ts'
import { minionDataDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { catalogueOfArgspecs } from '../../../../core/loader/describe/python-catalogue.ts'
import { catalogueHash } from '../../../../core/wire/catalogue.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
let catalogues: Catalogues

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-fleet-')
  await writeFile(path.join(folder, 'master'), `root_dir: ${folder}\n`)
  const { config } = loadMasterConfig({ configDir: folder })
  await mkdir(path.join(config.pki_dir, 'minions'), { recursive: true })
  await mkdir(minionDataDirectory(config), { recursive: true })
  catalogues = Catalogues.open(minionDataDirectory(config))
})
afterEach(async () => {
  await catalogues.close()
  await removeFolder(folder)
})

async function report(ids: readonly string[], catalogue: object): Promise<void> {
  const text = JSON.stringify({ missing: {}, ...catalogue })
  const { config } = loadMasterConfig({ configDir: folder })
  for (const id of ids) {
    await writeFile(path.join(config.pki_dir, 'minions', id), 'a key')
    await catalogues.save(id, { hash: catalogueHash(text), text })
  }
}

async function written(): Promise<{ said: string; text: string }> {
  const said = await writeFleetTypes(folder, folder)
  return { said, text: await readFile(path.join(folder, 'fleet-functions.d.ts'), 'utf8') }
}

test('functions of minions of both kinds get types, except those that have types already', async () => {
  const greet = { name: p.string(), times: p.default(p.integer(), 1), rest: p.rest(p.number()) }
  await report(['web1', 'web2'], {
    functions: { 'weather.greet': greet, 'test.ping': {}, 'plain.add': null },
    returns: { 'weather.greet': p.object({ at: p.date(), next: p.optional(p.nullable(p.string())) }).schema },
  })
  await report(
    ['old1'],
    catalogueOfArgspecs({
      'weather.greet': { args: ['name'], defaults: null, varargs: null, kwargs: null },
      'grains.ls': { args: null, defaults: null, varargs: null, kwargs: null },
      'nova.boot': { args: ['name', 'profile'], defaults: [null], varargs: null, kwargs: true },
    }) as object,
  )
  const { said, text } = await written()
  expect(said).toContain('fleet-functions.d.ts written: 3 functions of 3 minions (2 more have types already)')
  expect(said).toContain('Note: The functions have no documentation, since no minion could be asked for it: ')
  expect(text).toContain(
    '"weather.greet": Fn<{ "name": Param<string, \'value\', false>; "times": Param<number, \'value\', true>; "rest": Param<(number)[], \'rest\', true> }, Context, { "at": string; "next"?: string | null }>\n',
  )
  expect(text).toContain('Offered by web1, web2.\n     * With other parameters: old1.\n')
  expect(text).toContain('"plain.add": (...args: unknown[]) => unknown\n')
  expect(text).toContain(
    'Offered by old1.\n     */\n    "nova.boot": Fn<{ "name": Param<unknown, \'value\', false>; "profile": Param<unknown, \'value\', true>; "kwargs": Param<Record<string, unknown>, \'keywords\', true> }, Context, unknown>\n',
  )
  expect(text).not.toContain('test.ping')
  expect((await written()).said).toContain('fleet-functions.d.ts is current')
})

test('functions of modules in the folder are left to the file that salt-ts types writes for them', async () => {
  await report(['web1'], { functions: { 'weather.greet': {}, 'weather.more': {} } })
  await mkdir(path.join(folder, 'modules'))
  const own = "    'weather.greet': typeof import('./weather.js')['greet']\n"
  await writeFile(path.join(folder, 'modules/_catalogue.d.ts'), own)
  expect((await written()).text).not.toContain('weather.greet')
})

test('functions whose parameters a minion has not read yet are marked', async () => {
  await report(['web1', 'web2'], {
    functions: { 'shop.price': false, 'shop.sell': false, 'plain.add': null },
  })
  const { said, text } = await written()
  expect(said).toContain(
    'Note: The parameters of 2 functions are not known, such as those of shop.price. Minions import their modules to report them after 30 seconds without a job; run this again then.',
  )
  expect(text).toContain('"shop.price": (...args: unknown[]) => unknown\n')
})

test('function names of minions stay text', async () => {
  await report(['web1'], {
    functions: { "x.y': never } } declare const evil: 1 /*": { 'a" } //': p.string() } },
    returns: { 'x.y': { type: 'object', properties: { 'k"': {} }, required: [] } },
  })
  const { text } = await written()
  expect(text).toContain(
    `"x.y': never } } declare const evil: 1 /*": Fn<{ "a\\" } //": Param<string, 'value', false> }`,
  )
})

test('a fleet without reports is an error that says what to do', async () => {
  await expect(written()).rejects.toThrow(
    /^No minion of the master of .* has reported its functions. Start the master/,
  )
})

test('a file that salt-ts types did not write is not overwritten', async () => {
  await report(['web1'], { functions: { 'a.b': {} } })
  await writeFile(path.join(folder, 'fleet-functions.d.ts'), '// mine')
  await expect(written()).rejects.toThrow('was not written by salt-ts types; rename it first.')
})

test.each([
  [p.union(p.enum('a', 'b'), p.literal(3), p.boolean()), '"a" | "b" | 3 | boolean'],
  [p.array(p.nullable(p.integer())), '(number | null)[]'],
  [p.record(p.array(p.string())), 'Record<string, (string)[]>'],
  [p.record(p.any()), 'Record<string, unknown>'],
  [p.bytes(), 'string | Uint8Array'],
  [p.duration(), 'number | string'],
  [p.any(), 'unknown'],
  [{ schema: { anyOf: [] } }, 'never'],
  [{ schema: { enum: [] } }, 'never'],
  [{ schema: { enum: ['\u202e\u009b31m'] } }, '"\\u{202e}\\u{9b}31m"'],
])('the type of %o is written in TypeScript', ({ schema }, text) => {
  expect(schemaType(schema)).toBe(text)
})
