/** SSH keys with which git signs in. */
import { chmod, chown, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { findUser } from '../_cmd/users.ts'
import type { Outcome } from '../_program/run.ts'
import { redacted } from './address.ts'

export type Env = Readonly<Record<string, string>>

/** No question is asked, and a host whose key is not known is accepted; one whose key has changed is not. */
const SSH =
  'ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oPasswordAuthentication=no -oKbdInteractiveAuthentication=no'

/**
 * Run git with one key after the other, until it succeeds. A key is a path, or a salt:// URL.
 *
 * @throws CommandExecutionError if git succeeds with none
 */
export async function withIdentity(
  keys: readonly string[],
  { user, saltenv }: { user: string | undefined; saltenv: string },
  context: Context,
  run: (env: Env) => Promise<Outcome>,
): Promise<Outcome> {
  const errors: string[] = []
  const missing: string[] = []
  for (const key of keys) {
    const file = key.startsWith('salt://') ? await fetchKey(key, user, saltenv, context) : await ownKey(key)
    if (!file) {
      context.log.error(`identity ${key} does not exist.`)
      missing.push(key)
      continue
    }
    try {
      const outcome = await run({ GIT_SSH_COMMAND: `${SSH} -i ${quoted(file.path)}` })
      if (outcome.retcode === 0) return outcome
      errors.push(redacted(outcome.stderr || outcome.stdout))
    } finally {
      await file.remove()
    }
  }
  throw failure(errors.filter(Boolean), missing)
}

function failure(errors: readonly string[], missing: readonly string[]): CommandExecutionError {
  const absent =
    missing.length > 0 ? [`The following identity file(s) were not found: ${missing.join(', ')}`] : []
  const parts = [...(errors.length > 0 ? [errors.join('\n')] : []), ...absent]
  return new CommandExecutionError(`Unable to authenticate using identity file:\n\n${parts.join('\n\n')}`)
}

interface KeyFile {
  readonly path: string
  remove(): Promise<void>
}

async function ownKey(path: string): Promise<KeyFile | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? { path, remove: async () => undefined } : undefined
}

/** Fetch a key from the file server into a private copy: ssh refuses keys that others may read. */
async function fetchKey(
  url: string,
  user: string | undefined,
  saltenv: string,
  context: Context,
): Promise<KeyFile | undefined> {
  const cached = await context.call('cp.cache_file', { path: url, saltenv })
  if (typeof cached !== 'string' || cached === '') return undefined
  const folder = await mkdtemp(join(tmpdir(), 'salt-git-'))
  const path = join(folder, 'identity')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await copyFile(cached, path)
    await restrict(path, folder, user)
  } catch (cause) {
    await remove()
    throw new CommandExecutionError(`The identity ${url} cannot be used: ${(cause as Error).message}`)
  }
  return { path, remove }
}

async function restrict(path: string, folder: string, user: string | undefined): Promise<void> {
  await chmod(path, 0o600)
  const owner = user === undefined ? undefined : await findUser(user)
  if (!owner || process.getuid?.() !== 0) return
  await chown(path, owner.uid, owner.gid)
  await chown(folder, owner.uid, owner.gid)
}

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`
