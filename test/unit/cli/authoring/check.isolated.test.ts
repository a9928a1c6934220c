import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CheckedFolder, checkFolder } from '../../../../core/cli/authoring/check/check-folder.ts'
import { reports, summary } from '../../../../core/cli/authoring/check/report.ts'
import { create } from '../../../../core/cli/authoring/create.ts'
import { templateWords } from '../../../../core/cli/authoring/templates/index.ts'
import { rules } from '../../../../core/loader/check/rules.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

process.execArgv.length = 0 // what loads files runs what was built, without the test runner's conditions

const project = fileURLToPath(new URL('../../../../', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-check-')
})
afterAll(() => removeFolder(folder))

async function put(path: string, text: string): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** As after `npm install`, but for the network. */
async function installCompiler(below: string): Promise<void> {
  for (const scope of ['@types', '@typescript'])
    await mkdir(join(folder, below, 'node_modules', scope), { recursive: true })
  for (const name of ['typescript', '@typescript/typescript6', '@types/node'])
    await symlink(join(project, 'node_modules', name), join(folder, below, 'node_modules', name))
}

/** What `salt-ts check` does with these words. */
async function run(...words: string[]): Promise<{ code: number | undefined; text: string }> {
  const env = { NODE_OPTIONS: '' }
  const options = { cwd: folder, reject: false, all: true, env } as const
  const { exitCode, all } = await execa(join(project, 'bin', 'salt-ts'), ['check', ...words], options)
  return { code: exitCode, text: all }
}

/** For a machine that is busy with other tests. */
const patient = { loadMs: 60_000 }

const HEAD = "import { fn, p } from 'salt-ts'\n"

/** What somebody new does wrong: the file, its text, and the places and rules of what is found. */
const mistakes: Readonly<Record<string, readonly [text: string, ...found: string[]]>> = {
  'modules/unnamed.ts': [`${HEAD}export default fn(() => 1)\n`, '2:1 default-export'],
  'modules/first.ts': [
    "import { b } from './second.ts'\n\ninterface Half {}\nexport const a = () => b()\nexport const half: Half = {}\n",
    '1:19 circular-import',
  ],
  'modules/second.ts': ["import { half } from './first.ts'\n\nexport const b = () => half\n"],
  'modules/schema.ts': [
    `${HEAD}type Times = number\nexport const a = fn({\n  times: p.default(p.integer({ minimum: 1 }), 0 as Times),\n}, () => 1)\n`,
    '4:3 invalid-default',
  ],
  'modules/result.ts': [
    `${HEAD}interface Open {\n  close: () => void\n}\nexport const a = fn(async (): Promise<Open[]> => [])\n`,
    '5:14 unencodable-result',
  ],
  'modules/cmd.ts': ['export const run = () => 1\n', '1:1 hides-built-in'],
  'modules/needs.ts': [
    "\nimport no from 'no-such-package'\nexport const a = () => no\n",
    '2:16 missing-package',
  ],
  'modules/ends.ts': ['type Code = number\nconst code: Code = 3\nprocess.exit(code)\n', '3:1 import-exits'],
  'modules/throws.ts': ["interface A {}\nconst a: A = 'a'\nthrow new Error(String(a))\n", '3:7 import-fails'],
  'modules/timer.ts': ['export const a = () => 1\n\nsetInterval(() => {}, 1000)\n', '3:1 keeps-alive'],
  'modules/secret.ts': [
    `${HEAD}export const a = fn({\n  password: p.string(),\n}, () => 1)\n`,
    '3:3 undeclared-secret',
  ],
  'modules/example.ts': [
    `${HEAD}/**\n * @example salt '*' example.a many\n */\nexport const a = fn({ times: p.integer() }, () => 1)\n`,
    '3:13 refused-example',
  ],
  'modules/calls.ts': [
    `${HEAD}export const a = fn((_, { call }) =>\n  call('no.such'),\n)\n`,
    '3:8 unknown-call',
  ],
  'modules/native.ts': [
    "import native from 'native'\nexport const a = () => native\n",
    '1:20 install-script',
  ],
  'module/elsewhere.ts': [`${HEAD}export const a = fn(() => 1)\n`, '2:1 unfound-file'],
  'modules/with.dot.ts': [`${HEAD}export const a = fn(() => 1)\n`, '2:1 unfound-file'],
  'modules/common.cts': [`${HEAD}export const a = fn(() => 1)\n`, '2:1 unfound-file'],
  'modules/below/inner.ts': [`${HEAD}export const a = fn(() => 1)\n`, '2:1 unfound-file'],
  'ping.ts': [`${HEAD}export const a = fn(() => 1)\n`, '2:1 unfound-file'],
  'modules/twice.ts': [`${HEAD}export const a = fn(() => 1)\n`, '1:1 hidden-file'],
  'modules/twice/index.ts': [`${HEAD}export const a = fn(() => 1)\n`],
  'modules/twice/part.ts': [`${HEAD}export const b = fn(() => 1)\n`], // for the index
  'modules/_shared/part.ts': [`${HEAD}export const b = fn(() => 1)\n`],
  'outputters/pretty.ts': ['export const render = () => 1\n', '1:1 plugin-export'],
}

async function writeMistakes(): Promise<void> {
  for (const [path, [text]] of Object.entries(mistakes)) await put(`new/${path}`, text)
  await put('new/build.mjs', 'process.exit(1)\n') // a script of the author, and no extension
  await installCompiler('new')
  await put(
    'new/package.json',
    JSON.stringify({ name: 'new', type: 'module', dependencies: { native: '1' } }),
  )
  const scripts = { install: 'node-gyp rebuild' }
  await put('new/node_modules/native/package.json', JSON.stringify({ name: 'native', scripts }))
  await put('new/node_modules/native/index.js', 'module.exports = 1\n')
}

test('an extension that is a link is checked as Node imports it: by the folder of the file that it leads to', async () => {
  await put('linked/shared/_helper.ts', 'export const one = 1\n')
  await put(
    'linked/shared/shop.ts',
    `${HEAD}import { one } from './_helper.ts'\nexport const a = fn(() => one)\n`,
  )
  await mkdir(join(folder, 'linked/modules'))
  await symlink('../shared/shop.ts', join(folder, 'linked/modules/shop.ts'))
  const { findings } = await checkFolder(join(folder, 'linked'), patient)
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
})

describe('a folder of mistakes', () => {
  let checked: CheckedFolder
  beforeAll(async () => {
    await writeMistakes()
    checked = await checkFolder(join(folder, 'new'), patient)
  })

  test('has each reported at its line', () => {
    const found = checked.findings.map(
      ({ file, line, column, rule }) => `${relative(join(folder, 'new'), file)}:${line}:${column} ${rule}`,
    )
    const expected = Object.entries(mistakes).flatMap(([path, [, ...places]]) =>
      places.map((place) => `${path}:${place}`),
    )
    expect(found.sort()).toEqual(expected.sort())
    const unloaded = found.filter((one) => /(?:unfound|hidden)-file$/.test(one))
    const helpers = ['modules/twice/part.ts', 'modules/_shared/part.ts']
    expect(checked.files).toBe(Object.keys(mistakes).length - unloaded.length - helpers.length)
  })

  test('is reported in a line for each, with a total', () => {
    const lines = reports.text(checked).split('\n')
    const file = join(folder, 'new', 'modules', 'calls.ts')
    const sentence = "There is no function 'no.such' here, nor in salt-ts; write untyped('no.such')"
    expect(lines).toContainEqual(expect.stringContaining(`${file}:3:8: warning: ${sentence}`))
    expect(lines.length).toBe(checked.findings.length)
    const unfound = 'warning: No loader finds this file, since'
    expect(lines).toContainEqual(
      expect.stringContaining(
        `${unfound} its folder is not named by a kind of extension; did you mean 'modules'?`,
      ),
    )
    expect(lines).toContainEqual(
      expect.stringContaining(`${unfound} there is a dot in its name; name it 'with_dot'.`),
    )
    expect(summary(checked)).toBe('7 errors and 13 warnings in 16 files.')
  })

  test('is a log of SARIF 2.1.0', () => {
    const log = JSON.parse(reports.sarif(checked))
    const isValid = new Ajv({ strict: false, validateFormats: false }).compile(sarifSchema)
    expect({ isValid: isValid(log), errors: isValid.errors }).toEqual({ isValid: true, errors: null })
    const [{ results, tool }] = log.runs
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(Object.keys(rules))
    expect(results.length).toBe(checked.findings.length)
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
    const { artifactLocation } = results[0].locations[0].physicalLocation
    expect(artifactLocation.uri).toBe(`file://${checked.findings[0]?.file}`)
  })
})

test('an endless loop is reported at its line', async () => {
  await put(
    'loop/_modules/loop.ts',
    'for (const a of [1]) String(a)\ninterface A {}\n\nfor (;;);\nexport const a = () => 1\n',
  )
  const { findings } = await checkFolder(join(folder, 'loop', '_modules'), { loadMs: 500 })
  expect(findings).toContainEqual(expect.objectContaining({ rule: 'import-blocks', line: 4, column: 1 }))
})

test('files that `salt-ts create` writes have no findings', async () => {
  for (const kind of templateWords)
    await create({ kind, name: 'disk_usage', directory: join(folder, 'clean') })
  await installCompiler('clean')
  const checked = await checkFolder(join(folder, 'clean'), patient)
  expect(checked.findings).toEqual([])
  expect(summary(checked)).toBe(`Nothing found in ${templateWords.length} files.`)
})

describe('the program', () => {
  beforeAll(async () => {
    await put('own/modules/shop.ts', `${HEAD}export const a = fn({ password: p.string() }, () => 1)\n`)
    await put('own/package.json', '{ "type": "module" }')
  })

  test('exits with 0 for warnings, with text from the current folder', async () => {
    const { code, text } = await run('own')
    expect(code).toBe(0)
    expect(text).toMatch(/^own\/modules\/shop\.ts:2:23: warning: .*\[undeclared-secret\]\n/)
    expect(text).toMatch(
      /\nown\/package\.json:1:1: note: .*no TypeScript is installed for this folder.*\[results-unchecked\]\n/,
    )
    expect(text).toMatch(/\n1 warning and 1 note in 1 file\.$/)
  })

  test('exits with 1 for warnings with --strict, and writes JSON to a file', async () => {
    const { code, text } = await run('own', '--strict', '--format', 'json', '--output', 'findings.json')
    expect({ code, text }).toEqual({ code: 1, text: '1 warning and 1 note in 1 file.' })
    expect(JSON.parse(await readFile(join(folder, 'findings.json'), 'utf8'))).toContainEqual({
      rule: 'undeclared-secret',
      severity: 'warning',
      file: 'own/modules/shop.ts',
      line: 2,
      column: 23,
      message: expect.stringContaining('declare it with p.secret(…)'),
    })
  })

  test.each([
    [73, ['own', '--output', 'no/where.json'], 'no/where.json (--output): its folder does not exist'],
    [1, ['nothing'], 'There are no extensions in'],
    [64, ['own', '--format', 'xml'], 'xml'],
  ])('exits with %i for %j', async (code, words, text) => {
    expect(await run(...words)).toEqual({ code, text: expect.stringContaining(text) })
  })
})

/** What the schema of SARIF 2.1.0 demands of the parts that a report has. */
const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } }
const level = { enum: ['none', 'note', 'warning', 'error'] }
const sarifSchema = {
  type: 'object',
  required: ['version', 'runs'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['tool', 'results'],
        additionalProperties: false,
        properties: {
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          tool: {
            type: 'object',
            required: ['driver'],
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string' },
                  version: { type: 'string' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id'],
                      additionalProperties: false,
                      properties: {
                        id: { type: 'string' },
                        shortDescription: text,
                        defaultConfiguration: { type: 'object', properties: { level } },
                      },
                    },
                  },
                },
              },
            },
          },
          results: {
            type: 'array',
            items: {
              type: 'object',
              required: ['message', 'ruleId', 'locations'],
              additionalProperties: false,
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level,
                message: text,
                locations: {
                  type: 'array',
                  minItems: 1,
                  items: {
                    type: 'object',
                    required: ['physicalLocation'],
                    properties: {
                      physicalLocation: {
                        type: 'object',
                        required: ['artifactLocation'],
                        properties: {
                          artifactLocation: { type: 'object', properties: { uri: { type: 'string' } } },
                          region: {
                            type: 'object',
                            properties: {
                              startLine: { type: 'integer', minimum: 1 },
                              startColumn: { type: 'integer', minimum: 1 },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

test('a finding is one line without control characters', () => {
  const found = {
    severity: 'error',
    line: 1,
    column: 8,
    message: "There is no file './\x1b[31mgone.ts'",
  } as const
  const file = '/srv/a\n::error::.ts'
  const report = reports.text({ findings: [{ rule: 'missing-import', file, ...found }], files: 1 })
  expect(report).toBe("/srv/a ::error::.ts:1:8: error: There is no file './ [31mgone.ts' [missing-import]")
})
