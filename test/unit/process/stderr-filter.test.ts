import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { exitText, StderrFilter } from '../../../core/process/stderr-filter.ts'

/** What is passed on, and what is native, of these pieces. */
async function read(...pieces: string[]) {
  const stream = new PassThrough()
  const passed: string[] = []
  const native: string[] = []
  const words = new StderrFilter(stream, {
    pass: (text) => passed.push(text),
    native: (text) => native.push(text),
  })
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise(setImmediate)
  }
  const before = passed.join('')
  stream.destroy()
  const reason = await words.reason()
  return { before, passed: passed.join(''), native: native.join(), reason }
}

const noMemory = `
<--- Last few GCs --->

[1:0x2]      357 ms: Mark-Compact 17.0 (49.2) -> 16.6 (49.5) MB
<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----

 1: 0xb78db3 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]
`

test('lines are passed on, and native text is separated, wherever it is cut', async () => {
  const whole = { passed: 'one\ntwo\n', reason: expect.stringMatching(/^Reached heap .*out of memory$/) }
  expect(await read(`one\ntwo\n${noMemory}`)).toMatchObject({ ...whole, native: noMemory.trim() })
  expect(await read(...`one\ntwo\n${noMemory}`)).toMatchObject({ ...whole, native: noMemory.trim() })
})

test('native text can lack a reason, or begin with it', async () => {
  const abort = '----- Native stack trace -----\n\n 1: 0xd3a3c0  [node]\n'
  expect(await read('before\n', abort)).toMatchObject({
    passed: 'before\n',
    native: abort.trim(),
    reason: undefined,
  })
  const assertion =
    '\n  #  node[27624]: void f() at ../src/node_file.cc:1055\n  #  Assertion failed: args[0]->IsString()\n\n'
  expect(await read(assertion + abort)).toMatchObject({
    passed: '',
    reason: 'Assertion failed: args[0]->IsString()',
  })
})

test('a prompt without an end of line is shown at once, and so is the rest of its line', async () => {
  expect((await read('Password: ')).before).toBe('Password: ')
  expect((await read('one\n\n', 'Go on', '?', ' ')).before).toBe('one\n\nGo on? ')
})

test('text that only resembles native text is passed on', async () => {
  const text = 'FATAL ERROR: no configuration\n# a comment\n\n<--- here\n----- done -----\nend'
  expect(await read(text)).toMatchObject({ passed: text, native: '', reason: undefined })
  expect(await read(...text)).toMatchObject({ passed: text, native: '', reason: undefined })
})

test.for([
  [null, 'SIGABRT', 'heap out of memory', 'ran out of memory: heap out of memory'],
  [null, 'SIGKILL', undefined, 'was ended by SIGKILL'],
  [3, null, undefined, 'ended with exit code 3'],
  [134, null, 'Assertion failed: x', 'ended with exit code 134: Assertion failed: x'],
] as const)('the end of a process is described in words: %s %s %s', ([code, signal, reason, told]) => {
  expect(exitText(code, signal, reason)).toBe(told)
})
