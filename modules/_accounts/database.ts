import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommandExecutionError } from 'salt-ts'
import { which } from '../_cmd/which.ts'

const run = promisify(execFile)
/** Limits one answer of getent; large directories have many users. */
const MAX_BYTES = 256 * 1024 * 1024

/** The account databases of this host, in the format of getent(1). */
export type Database = 'passwd' | 'group' | 'shadow'

/**
 * Read the rows of an account database: of this host from all sources of its name service, or only from the file below
 * `root`. Rows with too few fields, and those that stand for NIS (`+::`), are left out.
 */
export async function readRows(
  database: Database,
  root: string | undefined,
  signal: AbortSignal,
): Promise<string[][]> {
  const listed = root === undefined ? await getent([database], signal) : undefined
  return rowsOf(listed ?? (await readDatabase(database, root)), database)
}

/**
 * Find one row by its name, or by the id in its third field. This also finds those of directories that list no rows.
 */
export async function findRow(
  database: Database,
  key: string | number,
  root: string | undefined,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (!/^[^:\n\0]+$/.test(String(key))) return undefined
  const field = typeof key === 'number' ? 2 : 0
  const keyed = (text: string) => rowsOf(text, database).find((row) => row[field] === String(key))
  const row = keyed(await readDatabase(database, root))
  if (row || root !== undefined) return row
  return keyed((await getent([database, '--', String(key)], signal)) ?? '')
}

const FIELDS: Readonly<Record<Database, number>> = { passwd: 7, group: 4, shadow: 3 }

function rowsOf(text: string, database: Database): string[][] {
  return text
    .split('\n')
    .map((line) => line.trimEnd().split(':'))
    .filter((row) => row.length >= FIELDS[database] && !/^[+-]/.test(row[0]!))
}

async function readDatabase(database: Database, root = '/'): Promise<string> {
  const path = join(root, 'etc', database)
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const hint = code === 'EACCES' ? '; the minion must run as root to read it' : ''
    throw new CommandExecutionError(`Unable to read ${path}: ${code}${hint}`)
  }
}

// Its exit code 2 says that there is no such row.
async function getent(args: string[], signal: AbortSignal): Promise<string | undefined> {
  const program = await which('getent')
  if (program === null) return undefined
  try {
    return (await run(program, args, { signal, maxBuffer: MAX_BYTES })).stdout
  } catch (cause) {
    if (signal.aborted) throw cause
    return undefined
  }
}
