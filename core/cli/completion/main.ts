/**
 * Entry of `salt-ts __words <folder of a configuration>`, which `bin/complete.sh` runs in the background: writes what this user
 * may know of it to a folder below the user's own cache, for nobody else to read.
 */
import { existsSync, mkdirSync, statSync, utimesSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { knownTables } from './known.ts'
import { writeTables } from './rows.ts'

/** Times of files may be behind the clock by so much. Milliseconds. */
const GRAIN_MS = 10

function writeWords(configDir: string): void {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'salt-ts', 'completion', configDir)
  // `sudo -E`: root writes nothing where the user could lead it astray.
  if (existsSync(cache) && statSync(cache).uid !== process.getuid?.()) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const begun = new Date(Date.now() - GRAIN_MS)
  const { 'made-of': madeOf = [], ...tables } = knownTables(configDir)
  writeTables(folder, tables)
  writeTables(folder, { 'made-of': madeOf })
  utimesSync(join(folder, 'made-of'), begun, begun)
}

// Nobody reads what goes wrong here.
try {
  writeWords(resolve(process.argv[3] ?? '/etc/salt'))
} catch {
  process.exitCode = 1
}
