import { constants } from 'node:fs'
import { access, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { systemctl } from './systemctl.ts'
import { listedName } from './units.ts'

const FOLDERS = ['/lib/systemd/system', '/usr/lib/systemd/system', '/etc/systemd/system']

/** Return the names of all unit files that are listed as services. */
export async function unitFiles(root = '/'): Promise<Set<string>> {
  const names = await Promise.all(FOLDERS.map((folder) => namesIn(join(root, folder))))
  return new Set(names.flat().flatMap((file) => listedName(file) ?? []))
}

// A folder that is a symlink leads to another one of them.
async function namesIn(folder: string): Promise<string[]> {
  try {
    await access(folder, constants.R_OK)
    return (await lstat(folder)).isSymbolicLink() ? [] : await readdir(folder)
  } catch {
    return []
  }
}

/** Return the names of the unit files of which systemctl says that they are in a state, such as `enabled`. */
export async function unitFilesIn(
  state: string,
  root: string | undefined,
  context: Context,
): Promise<string[]> {
  const words = ['--full', '--no-legend', '--no-pager', 'list-unit-files']
  const { stdout } = await systemctl(words, undefined, context, { root, ignoreRetcode: true })
  return readUnitFiles(stdout, state)
}

/** Read the table of `systemctl list-unit-files`: name, state, and since systemd 245 the state that the vendor prefers. */
export function readUnitFiles(table: string, wanted: string): string[] {
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return rows.flatMap(([unit = '', state]) => (state === wanted ? (listedName(unit) ?? []) : []))
}

/** Read the table of `systemctl list-units`, and return the names of the units that run, sorted. */
export function readRunning(table: string): string[] {
  const rows = table.split('\n').map((line) => line.replace(/^\s*[●*○↻×]?\s+|^[●*○↻×]\s*/u, '').split(/\s+/))
  const running = rows.flatMap(([unit = '', , , state]) =>
    state === 'running' ? (listedName(unit) ?? []) : [],
  )
  return [...new Set(running)].sort()
}

/** Whether an instance of a template is enabled by a link, which `systemctl is-enabled` of old versions does not find. */
export async function hasInstanceLink(unit: string, root = '/'): Promise<boolean> {
  const folder = join(root, '/etc/systemd/system')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.some((entry) => entry.name === unit && entry.isSymbolicLink())
}
