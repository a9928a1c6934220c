/** All programs, and the files that the build generates from them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeManifests } from '../loader/files/manifest.ts'
import { builtInTables, optionTables } from './completion/built-in-tables.ts'
import { writeTables } from './completion/rows.ts'
import { manPage } from './program/man.ts'
import type { Program } from './program/program.ts'
import { programNames } from './program/program-names.ts'

export const programs: readonly Program[] = await Promise.all(
  programNames().map(async (name) => (await import(`./commands/${name}.ts`)).default),
)

/** Write the manifests of built-in extensions, `man/<program>.1` and the tables of shell completion to the build folder. */
export async function writeAboutPackage(dist: string): Promise<void> {
  await writeManifests()
  await mkdir(join(dist, 'man'), { recursive: true })
  for (const program of programs) await writeFile(join(dist, 'man', `${program.id}.1`), manPage(program))
  writeTables(join(dist, 'cli', 'completion'), { ...optionTables(programs), ...builtInTables() })
}
