/**
 * Entry of `salt-ts __complete <line>`, which shells run at each Tab: candidates, one a line, each with a tab and what
 * it means. A prompt must not wait: what is not known in time is not said.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeRoot } from '../../loader/own-package.ts'
import { typedValue } from '../typed-options.ts'
import { type Candidate, completions } from './complete.ts'
import { wordsOf } from './line.ts'
import { openSources } from './sources.ts'
import type { Tables } from './tables.ts'

/** From the start of the process, seconds. The scripts for the shells end it then. */
const LIMIT_SECONDS = 0.1
/** Of that, what is kept to say what was found. */
const READING = 0.85

/** What is to be written in time; nothing if it is too late for that. */
async function answer(line: string): Promise<string> {
  const limitMs = 1000 * Number(process.env.SALT_TS_COMPLETION_SECONDS || LIMIT_SECONDS)
  const found = await known(line, () => performance.now() > limitMs * READING)
  return performance.now() > limitMs ? '' : found.map((candidate) => `${shown(candidate)}\n`).join('')
}

/** Nothing, where something is missing or may not be read: a prompt is no place to say so. */
async function known(line: string, late: () => boolean): Promise<Candidate[]> {
  try {
    const tables = JSON.parse(readFileSync(join(codeRoot, 'cli', 'options.json'), 'utf8')) as Tables
    const configDir = typedValue(wordsOf(line), 'config-dir', 'c')
    return await completions(line, tables, openSources({ configDir, late }))
  } catch {
    return []
  }
}

/** Names come from minions: nothing of them is to do anything to a terminal. */
const shown = ([word, about = '']: Candidate): string =>
  `${word.replaceAll(/\p{Cc}/gu, '')}\t${about.replaceAll(/\p{Cc}/gu, ' ').split('. ', 1)[0]}`

void answer(process.argv.at(-1) ?? '').then((text) => process.stdout.write(text, () => process.exit(0)))
