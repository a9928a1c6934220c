/** External authentication (`--eauth`): prompts for credentials, and the stored token. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { currentUser } from '../base/current-user.ts'
import { SaltError } from '../base/errors.ts'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { localCredentials } from '../client/local/credentials.ts'
import { type ExternalAuth, obtainToken } from '../client/local/external-auth.ts'
import type { MasterConfig } from '../config/index.ts'
import { UsageError } from './exit-codes.ts'
import { printNote } from './output/console.ts'
import { askFor, type Question } from './program/ask.ts'

export interface AuthChoice {
  readonly eauth?: string | undefined
  readonly 'make-token'?: boolean
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/**
 * Return the credentials for the master; undefined: use the key of the local user. A stored token is used if a
 * backend is named without a user, and if this user needs one.
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
      throw new UsageError('Name the backend that checks the credentials with --eauth.')
    const token = storedToken(file, config.token_expire)
    return token !== undefined && (await needsToken(config)) ? { token } : undefined
  }
  const isTyped = flags['make-token'] || flags.username !== undefined || flags.password !== undefined
  const stored = isTyped ? undefined : storedToken(file, config.token_expire)
  if (stored !== undefined) return { token: stored }
  const credentials = { eauth, ...(await promptForCredentials(flags)) }
  if (!flags['make-token']) return credentials
  const { token } = await obtainToken(config, credentials)
  await storeToken(file, token)
  return { token }
}

const USERNAME: Question = { text: 'username: ', secret: false }
const PASSWORD: Question = { text: 'password: ', secret: true }

/** Prompt for user and password as far as they were not typed. */
async function promptForCredentials({
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

/** Whether this user may not read the key of the master that publishing needs. */
const hasNoKey = (config: MasterConfig): Promise<boolean> =>
  localCredentials(config).then(
    () => false,
    (error: unknown) => SaltError.is(error) && error.code === 'PERMISSIONS',
  )

/**
 * Whether this process neither runs as the user of the master nor can switch to it, as work on the files of the
 * master needs.
 */
export const isNotMasterUser = (config: MasterConfig): boolean =>
  process.geteuid?.() !== 0 && currentUser() !== config.user

/** Read the stored token, unless it has expired. `seconds` is the option `token_expire`. */
function storedToken(file: string, seconds: number): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return text !== '' && statSync(file).mtimeMs + seconds * 1000 > Date.now() ? text : undefined
  } catch {
    return undefined
  }
}

/** Write the token to a new file: an existing one may be readable by others. */
async function storeToken(file: string, token: string): Promise<void> {
  try {
    await writeFileAtomic(file, token, { mode: 0o600 })
  } catch (error) {
    printNote(`WARNING: The token cannot be stored in ${file} (option token_file): ${fileProblem(error)}`)
  }
}
