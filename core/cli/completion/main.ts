/**
 * Entry of `salt-ts __words <folder of a configuration>`, which `bin/complete.sh` runs in the background: write the
 * words of that configuration to the user's cache, where nobody else can read them.
 */
import { existsSync, mkdirSync, statSync, utimesSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { configTables } from './config-tables.ts'
import { writeTables } from './rows.ts'

/** How much file times may lag behind the clock. */
const CLOCK_SLACK_MS = 10

function writeWords(configDir: string): void {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'salt-ts', 'completion', configDir)
  // With `sudo -E`, root must not write where links of the user could lead elsewhere.
  if (existsSync(cache) && statSync(cache).uid !== process.getuid?.()) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const begun = new Date(Date.now() - CLOCK_SLACK_MS)
  const { 'made-of': madeOf = [], ...tables } = configTables(configDir)
  writeTables(folder, tables)
  writeTables(folder, { 'made-of': madeOf })
  utimesSync(join(folder, 'made-of'), begun, begun)
}

// This runs in the background: nobody would read an error.
try {
  writeWords(resolve(process.argv[3] ?? '/etc/salt'))
} catch {
  process.exitCode = 1
}
