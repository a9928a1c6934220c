/** What `salt-ts dev` runs functions on: a master and minions of its own, or a minion of a real master. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { openLoader } from '../../loader/index.ts'
import { type KindName, kinds } from '../../loader/kinds.ts'
import { createLogger, type Logger } from '../../log/index.ts'
import { writeTypes } from '../authoring/write-types.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'

export interface DevFleet {
  /** The folder of the master's configuration, for `-c`. */
  readonly configDir: string
  /** Run what was typed, print its result and return the exit code that a program would have. */
  run(words: readonly string[]): Promise<number>
  /** Use changed files from now on; `grains` also collects grains again. Resolves when minions and master know them. */
  reload(grains: boolean): Promise<void>
  close(): Promise<void>
}

interface LoadSettings {
  readonly config: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Kinds that are loaded otherwise. */
  readonly except?: readonly KindName[]
}

/** Load the author's files in this process, so that those that fail are known (`keepLastGood`). */
export async function loadHere(folder: string, { config, log, except = [] }: LoadSettings): Promise<void> {
  for (const { name, folders } of kinds.values()) {
    const isThere = folders
      .flatMap((own) => [own, `_${own}`])
      .some((own) => existsSync(path.join(folder, own)))
    if (isThere && !except.includes(name))
      await openLoader(name, { config: { ...config }, log }).broken(folder)
  }
}

/** Write the types of the functions of a folder. Returns a sentence about it; undefined if there is nothing new. */
export async function typesNote(folder: string): Promise<string | undefined> {
  try {
    const [sentence = ''] = (await writeTypes(folder)).split('\n')
    return sentence.includes(' written: ') ? sentence : undefined
  } catch (error) {
    if (SaltError.is(error) && error.code === 'FUNCTION_NOT_FOUND') return undefined // no modules
    throw error
  }
}

/** Programs that cannot be typed at the prompt. */
const OTHER_PROGRAMS = ['salt-call', 'salt-key', 'salt-ts']

/** Refuse a line that begins with one of them, and return the exit code; undefined for other lines. */
export function refuseOtherProgram(program: string, configDir: string): number | undefined {
  if (!OTHER_PROGRAMS.includes(program)) return undefined
  const [how, word] = {
    'salt-key': [`salt-key -c ${configDir}`, 'salt-run wheel key.list_all'],
  }[program] ?? [program, 'salt or salt-run']
  printNote(`ERROR: ${program} cannot be typed here. Run '${how}' in another terminal, or type ${word}.`)
  return exitCodes.usage
}

/** Files that fail to load are shown otherwise. */
export const openLog = (level: string): Logger =>
  createLogger({
    program: 'salt-minion',
    console: { level },
    formats: { log_granular_levels: { 'salt.loaded.ext': 'info', 'salt.loader': 'critical' } },
  })
