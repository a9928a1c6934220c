import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { watchStart } from '../../../../core/master/supervision/starting.ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { SLOW } from '../../../harness/slow.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function start(program: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: 'ignore' })
  children.push(child)
  await once(child, 'spawn')
  return child
}

/** Resolves with the lines of the log once one of them is `last`. */
function watchUntil(child: ChildProcess, last: RegExp): Promise<string[]> {
  return new Promise((resolve) => {
    const lines: string[] = []
    const log = recordingLog((level, message) => {
      lines.push(`${level} ${message}`)
      if (!last.test(message)) return
      clearInterval(timer)
      resolve(lines)
    })
    const timer = watchStart(child, 'MWorker-0', log, 100)
  })
}

test('a child that only waits is reported, and killed in the end', SLOW, async () => {
  const child = await start('sleep', '60')
  const exit = once(child, 'exit')
  const lines = await watchUntil(child, /killed/)
  expect(await exit).toEqual([null, 'SIGKILL'])
  expect(lines).toHaveLength(6)
  expect(lines[0]).toBe('warn MWorker-0 is not ready 0 seconds after its start: it is waiting.')
  expect(lines[5]).toMatch(/^error MWorker-0 has not become ready in .* is killed.* a store locked/)
})

test('a child that is working is given more time', SLOW, async () => {
  const child = await start('sh', '-c', 'while :; do :; done')
  const lines = await watchUntil(child, / 2 seconds .* is working/)
  expect(lines.length).toBeGreaterThan(10)
  expect(child.signalCode).toBeNull()
})
