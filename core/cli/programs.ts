/** All programs, for what is made of them when the package is built. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Salt from './commands/salt.ts'
import SaltApi from './commands/salt-api.ts'
import SaltCall from './commands/salt-call.ts'
import SaltKey from './commands/salt-key.ts'
import SaltMaster from './commands/salt-master.ts'
import SaltMinion from './commands/salt-minion.ts'
import SaltRun from './commands/salt-run.ts'
import SaltTs from './commands/salt-ts.ts'
import { writeTables } from './completion/rows.ts'
import { builtInTables, optionTables } from './completion/tables.ts'
import { manPage } from './man.ts'
import type { Program } from './program.ts'

export const programs: readonly Program[] = [
  Salt,
  SaltApi,
  SaltCall,
  SaltKey,
  SaltMaster,
  SaltMinion,
  SaltRun,
  SaltTs,
]

/** Write `man/<program>.1`, and `cli/completion` for shells, into the folder of what was built. */
export async function writeAboutPrograms(dist: string): Promise<void> {
  await mkdir(join(dist, 'man'), { recursive: true })
  for (const program of programs) await writeFile(join(dist, 'man', `${program.id}.1`), manPage(program))
  writeTables(join(dist, 'cli', 'completion'), { ...optionTables(programs), ...builtInTables() })
}
