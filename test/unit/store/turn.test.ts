import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRunning, readIdentity } from '../../../core/base/process-identity.ts'
import { inTurn } from '../../../core/store/turn.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-turn-'))
})
afterEach(() => rm(folder, { recursive: true }))

const OTHER = { pid: process.ppid, born: 'another-start/7' }

test.each([
  ['another process has its number now', JSON.stringify(OTHER)],
  ['only its number is known', String(process.ppid)],
  ['what is written there is no process', 'x'],
])('a turn whose holder is over is taken over: %s', async (_, text) => {
  const path = join(folder, 'store')
  await writeFile(`${path}.turn`, text)
  const held = inTurn(path, () => readFileSync(`${path}.turn`, 'utf8'))
  expect(isRunning(readIdentity(JSON.parse(held)) ?? OTHER)).toBe(true)
  expect(existsSync(`${path}.turn`)).toBe(false)
})
