import { readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { printNote } from '../../../../core/cli/output/console.ts'
import { showDocs } from '../../../../core/cli/output/docs.ts'
import { type OutputFlags, openPrinter, type Printed } from '../../../../core/cli/output/printer.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { captured } from '../../../harness/terminal.ts'
import { eventually } from '../../../harness/until.ts'

const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
const print = (value: unknown, flags: OutputFlags = {}, config = {}, options: Printed = {}) =>
  captured(async () => (await openPrinter(flags, config, log)).print(value, options)).then(
    ({ stdout }) => stdout,
  )

afterEach(() => vi.unstubAllEnvs())

test('--out has precedence over the function, the function over the configuration, and that over nested', async () => {
  const value = { web01: true }
  expect(await print(value)).toBe('web01:\n    True\n')
  expect(await print(value, {}, { output: 'txt' })).toBe('web01: True\n')
  expect(await print(value, {}, { output: 'txt' }, { outputter: 'yaml' })).toBe('web01: true\n')
  expect(await print(value, { out: 'raw' }, { output: 'txt' }, { outputter: 'yaml' })).toBe(
    "{'web01': True}\n",
  )
})

test('printing waits until a slow reader has taken the output', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(false)
  try {
    const printer = await openPrinter({}, {}, log)
    let printed = false
    const printing = printer.print('x').then(() => {
      printed = true
    })
    await eventually(() => expect(write).toHaveBeenCalledOnce())
    await new Promise((resolve) => setImmediate(resolve))
    expect(printed).toBe(false)
    process.stdout.emit('drain')
    await printing
  } finally {
    write.mockRestore()
  }
})

test('a function whose outputter does not exist is shown with nested', async () => {
  expect(await print({ a: 1 }, {}, {}, { outputter: 'nosuch' })).toBe('a:\n    1\n')
})

test('an unknown outputter is refused before anything is done', async () => {
  await expect(openPrinter({ out: 'nosuch' }, {}, log)).rejects.toThrow(
    "There is no outputter 'nosuch'. There are: highstate, json,",
  )
})

test('the indentation can be a number or a word', async () => {
  expect(await print({ b: 1, a: 2 }, { out: 'json', 'out-indent': '-1' })).toBe('{"b": 1, "a": 2}\n')
  expect(await print({ b: 1, a: 2 }, { out: 'json', 'out-indent': 'pretty' })).toBe(
    '{\n    "a": 2,\n    "b": 1\n}\n',
  )
})

test('colours are used only on request, or on a terminal', async () => {
  expect(await print('x', { 'force-color': true })).toBe('\x1b[0;32mx\x1b[0;0m\n')
  expect(await print('x', { 'no-color': true })).toBe('x\n')
  vi.stubEnv('NO_COLOR', '1')
  expect(await print('x')).toBe('x\n')
})

test('an empty result prints nothing, not an empty line', async () => {
  expect(await print({ a: 1 }, { out: 'quiet' })).toBe('')
})

test('an output file gets the text, is private, and is appended to on request', async () => {
  const folder = await temporaryFolder('salt-ts-printer-')
  const path = join(folder, 'out')
  await print('one', { 'out-file': path })
  await print('two', { 'out-file': path, 'out-file-append': true })
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
  expect((await stat(path)).mode & 0o077).toBe(0)
  await removeFolder(folder)
})

test('a file that cannot be written is an error: at once if it cannot be opened, else when the disk is full', async () => {
  const nowhere = join(tmpdir(), 'salt-ts-no-such-folder', 'out')
  await expect(print('x', { 'out-file': nowhere })).rejects.toThrow(
    `Cannot write to ${nowhere} (--out-file): its folder does not exist; create it first.`,
  )
  await expect(print('x', { 'out-file': tmpdir() })).rejects.toThrow('this is a folder; name a file in it')
  await expect(print('x', { 'out-file': '/dev/full' })).rejects.toThrow('the disk is full')
})

test('outputters get the options of Salt from the configuration', async () => {
  const value = {
    web01: { 'test_|-a_|-a_|-nop': { result: true, changes: {}, comment: '', __run_num__: 0 } },
  }
  const summary = 'Total states run:     1\n'
  const config = { state_output: 'terse', state_output_profile: false }
  const shown = await print(value, { out: 'highstate' }, config)
  expect(shown).toContain('  Name: a - Function: test.nop - Result: Clean\n')
  expect(shown).toContain(summary)
  const brief = { ...config, state_verbose: false }
  expect(await print(value, { out: 'highstate' }, brief)).not.toContain('Name: a')
  expect(await print({ a: [] }, { out: 'json' }, { output_indent: null })).toBe('{"a": []}\n')
  expect(await print('a\x1bb', {}, { strip_colors: false })).toBe('a\x1bb\n')
})

describe('before a terminal', () => {
  const bad = 'a\x1b]0;b\x07c\x9b31md\x7fe\r\nf\x1b[31mg'
  const streams = [process.stdout, process.stderr]
  const were = streams.map(({ isTTY }) => isTTY)
  const setTerminal = (is: (index: number) => boolean | undefined) => {
    for (const [index, stream] of streams.entries()) Object.assign(stream, { isTTY: is(index) })
  }
  beforeEach(() => setTerminal(() => true))
  afterEach(() => setTerminal((index) => were[index]))

  test.each(['txt', 'raw', 'newline_values_only', 'json', 'yaml', 'pprint', 'highstate', 'nosuch'])(
    'a minion that chooses the outputter %s cannot control it by what it returns',
    async (outputter) => {
      for (const value of [bad, { web1: bad }, { web1: { [bad]: [bad] } }]) {
        const shown = await print(value, { 'no-color': true }, {}, { outputter })
        expect(shown.replaceAll('\r\n', '')).not.toMatch(/[^\P{Cc}\n\t]/u)
        const coloured = await print(value, {}, {}, { outputter })
        for (const code of ['\x9b', '\x07', '\x1b]']) expect(coloured).not.toContain(code)
      }
    },
  )

  test('neither documentation nor notes that quote a minion control it', async () => {
    const printer = await openPrinter({}, {}, log)
    const written = await captured(async () => {
      await showDocs(new Map([[bad, bad]]), printer)
      printNote(bad)
    })
    const text = written.stdout + written.stderr
    expect(text).toContain('a?]0;b?c?31md?e')
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[^\P{Cc}\n\t]/u)
  })
})

test('a colour theme changes the codes of colours; one that cannot be read causes a warning', async () => {
  const folder = await temporaryFolder('salt-ts-theme-')
  const path = join(folder, 'theme')
  await writeFile(path, 'GREEN: "1;2"\n')
  const flags = { 'force-color': true }
  expect(await print('x', flags, { color_theme: path })).toBe('\x1b[1;2mx\x1b[0;0m\n')
  expect(await print('x', flags, { color_theme: `${path}-gone` })).toBe('\x1b[0;32mx\x1b[0;0m\n')
  await removeFolder(folder)
})

test.each([
  ['() => ({ a: 1 })', 'a map'],
  ['async () => "text"', 'a promise'],
  ['() => undefined', 'undefined'],
])(
  'an outputter %s that returns no text is named, and its data is shown with nested',
  async (render, kind) => {
    const folder = await temporaryFolder('salt-outputters-')
    try {
      await writeFile(join(folder, 'odd.js'), `export default { render: ${render} }`)
      const printed = await captured(async () =>
        (await openPrinter({ out: 'odd' }, { outputter_dirs: [folder] }, log)).print({ web01: true }),
      )
      expect(printed.stdout).toBe('web01:\n    True\n')
      expect(printed.stderr).toContain(
        `The outputter 'odd' failed (it returned ${kind} instead of text); this is shown as nested.`,
      )
    } finally {
      await removeFolder(folder)
    }
  },
)
