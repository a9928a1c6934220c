import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { findUser } from '../_cmd/users.ts'
import { setting, textSetting } from '../_database/settings.ts'
import { isFile } from '../_file/paths.ts'
import { runProgram } from '../_program/run.ts'
import { findProgram } from './psql.ts'

export interface NewFolder {
  readonly name: string
  readonly auth: string
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly encoding: string
  readonly locale?: string | undefined
  readonly waldir?: string | undefined
  readonly checksums: boolean
  readonly runas?: string | undefined
}

/** Whether a folder has a server's data. */
export const hasData = async (folder: string): Promise<boolean> =>
  (await isFile(join(folder, 'PG_VERSION'))) && (await isFile(join(folder, 'postgresql.conf')))

/** Create the data of a server. False if it is there, or initdb fails. */
export async function initFolder(given: NewFolder, context: Context): Promise<boolean> {
  if (await hasData(given.name)) {
    context.log.info(`${given.name} already exists`)
    return false
  }
  const runas = given.runas ?? 'postgres'
  const program = await findProgram('initdb', await textSetting('postgres.bins_dir', context))
  if (program === undefined) throw new CommandExecutionError('initdb executable not found.')
  const secret = given.password === undefined ? undefined : await secretFile(given.password, runas)
  try {
    const { retcode } = await runProgram(
      [
        ...([program, `--pgdata=${given.name}`, `--username=${given.user ?? runas}`] as const),
        `--auth=${given.auth}`,
        `--encoding=${given.encoding}`,
        ...(given.locale === undefined ? [] : [`--locale=${given.locale}`]),
        ...(given.waldir === undefined ? [] : ['-X', given.waldir]),
        ...(given.checksums ? ['--data-checksums'] : []),
        ...(secret === undefined ? [] : [`--pwfile=${secret}`]),
      ],
      context,
      { runas, timeout: Number((await setting('postgres.timeout', context)) ?? 0) },
    )
    return retcode === 0
  } finally {
    if (secret !== undefined) await rm(secret, { force: true })
  }
}

/** Write a password to a new file that only the user can read. */
async function secretFile(password: string, name: string): Promise<string> {
  const user = await findUser(name)
  if (!user) throw new CommandExecutionError(`User '${name}' is not available`)
  const path = join(tmpdir(), `salt-${randomUUID()}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(password)
    if (process.getuid?.() === 0) await file.chown(user.uid, user.gid)
  } finally {
    await file.close()
  }
  return path
}
