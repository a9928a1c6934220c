/** External authentication: what is asked of the user, and the token that is kept. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { currentUser } from '../base/current-user.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { localCredentials } from '../client/credentials.ts'
import { type ExternalAuth, makeToken } from '../client/external-auth.ts'
import type { MasterConfig } from '../config/index.ts'
import { askFor, type Question } from './ask.ts'
import { tell } from './console.ts'
import { UsageError } from './exit-codes.ts'

export interface AuthChoice {
  readonly eauth?: string | undefined
  readonly 'make-token'?: boolean
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/**
 * How the master is told who this is; undefined: by the key of a local user. A token that was kept is used by whoever names a
 * backend and no user, so that nothing is asked again, and by whoever needs one.
 * @throws UsageError; SaltError AUTHENTICATION_FAILED, MASTER_UNREACHABLE
 */
export async function externalAuth(
  flags: AuthChoice,
  config: MasterConfig,
  needsToken: (config: MasterConfig) => boolean | Promise<boolean> = hasNoKey,
): Promise<ExternalAuth | undefined> {
  const { eauth } = flags
  const file = tokenFile(config)
  if (eauth === undefined) {
    if (flags['make-token'] || flags.username !== undefined || flags.password !== undefined)
      throw new UsageError('Say with --eauth which backend is to check that.')
    const token = keptToken(file, config.token_expire)
    return token !== undefined && (await needsToken(config)) ? { token } : undefined
  }
  const isTyped = flags['make-token'] || flags.username !== undefined || flags.password !== undefined
  const kept = isTyped ? undefined : keptToken(file, config.token_expire)
  if (kept !== undefined) return { token: kept }
  const credentials = { eauth, ...(await whoAndPassword(flags)) }
  if (!flags['make-token']) return credentials
  const { token } = await makeToken(config, credentials)
  await keepToken(file, token)
  return { token }
}

const USERNAME: Question = { text: 'username: ', secret: false }
const PASSWORD: Question = { text: 'password: ', secret: true }

/** Asks for what was not typed. */
async function whoAndPassword({
  username,
  password,
}: AuthChoice): Promise<{ username: string; password: string }> {
  const missing = [
    ...(username === undefined ? [USERNAME] : []),
    ...(password === undefined ? [PASSWORD] : []),
  ]
  const answers = missing.length > 0 ? await askFor(missing) : []
  const answer = (question: Question) => answers[missing.indexOf(question)]
  return {
    username: username ?? (answer(USERNAME) || currentUser()),
    password: password ?? answer(PASSWORD) ?? '',
  }
}

const tokenFile = ({ token_file }: MasterConfig): string =>
  resolve(token_file.replace(/^~(?=\/|$)/, homedir()))

/** Who may not read a key of the master, as is needed to publish. */
const hasNoKey = (config: MasterConfig): Promise<boolean> =>
  localCredentials(config).then(
    () => false,
    (error: unknown) => SaltError.is(error) && error.code === 'PERMISSIONS',
  )

/** Who is not the user of the master and cannot become it, as is needed to work on its files. */
export const isStranger = (config: MasterConfig): boolean =>
  process.geteuid?.() !== 0 && currentUser() !== config.user

/** One that is older than the master keeps it is not worth a try. `seconds`: option `token_expire`. */
function keptToken(file: string, seconds: number): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return text !== '' && statSync(file).mtimeMs + seconds * 1000 > Date.now() ? text : undefined
  } catch {
    return undefined
  }
}

/** In a new file: one that is there may be open to others. */
async function keepToken(file: string, token: string): Promise<void> {
  try {
    await writeFileAtomic(file, token, { mode: 0o600 })
  } catch (error) {
    tell(`WARNING: The token cannot be kept in ${file} (option token_file): ${messageOf(error)}`)
  }
}
