/**
 * Logins of remote repositories. Everybody on the host sees the arguments of git, and of the programs that it starts with the URL, so
 * git gets URLs without logins, and these by its environment.
 */
import { CommandExecutionError, type Context } from 'salt-ts'
import { linesOf } from '../_cmd/lines.ts'
import { type ProgramOptions, runProgram } from '../_program/run.ts'
import { type Login, loginOf } from './address.ts'
import type { Env } from './identity.ts'

export type Setting = readonly [key: string, value: string]

/** Which URLs of the remotes of a checkout git is going to use. */
export type Direction = 'fetch' | 'push'

/**
 * Return settings that let git sign in. Those of a whole URL come after those of its site, and count more: two remotes of a site
 * may have different logins.
 */
export function loginSettings(logins: readonly Login[]): Setting[] {
  const helpers = (place: 'site' | 'url') =>
    logins.flatMap((login, at): Setting[] => [
      // An empty one takes those away that the user has configured, which would be asked first.
      [`credential.${login[place]}.helper`, ''],
      [`credential.${login[place]}.helper`, helper(at)],
    ])
  const plain = logins.map(({ site, siteWithLogin }): Setting => [`url.${site}.insteadOf`, siteWithLogin])
  return [...helpers('site'), ...helpers('url'), ...plain]
}

/** A shell function that answers git; its `printf` is no process of its own. */
const helper = (at: number): string =>
  `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$SALT_GIT_USER_${at}" "$SALT_GIT_PASSWORD_${at}"; }; f`

/** Return the variables that the helpers of {@link loginSettings} read. */
export const loginEnv = (logins: readonly Login[]): Env =>
  Object.fromEntries(
    logins.flatMap(({ user, password }, at) => [
      [`SALT_GIT_USER_${at}`, user],
      [`SALT_GIT_PASSWORD_${at}`, password],
    ]),
  )

/** Return variables with settings for git, after those that the environment has already. Needs git 2.31. */
export function settingsEnv(settings: readonly Setting[], { GIT_CONFIG_COUNT }: NodeJS.ProcessEnv): Env {
  const first = Number(GIT_CONFIG_COUNT) || 0
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${first + at}`, key],
    [`GIT_CONFIG_VALUE_${first + at}`, value],
  ])
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(first + settings.length) }
}

export interface Checkout {
  readonly cwd: string
  readonly user?: string | undefined
}

/** Return the logins in the URLs of the remotes of a checkout. The last of a site counts. */
export async function storedLogins(
  direction: Direction,
  { cwd, user }: Checkout,
  context: Context,
): Promise<Login[]> {
  const urls = await remoteUrls(direction === 'push' ? '(push)?url' : 'url', { cwd, user }, context)
  const isPushUrl = ({ key }: { key: string }) => key.endsWith('.pushurl')
  const sorted = [...urls.filter((one) => !isPushUrl(one)), ...urls.filter(isPushUrl)]
  return sorted.flatMap(({ url }) => loginOf(url) ?? [])
}

/**
 * Write the URL of a remote into the configuration of a checkout. Git's own commands for it take the URL, with its login, as an
 * argument; the editor that it starts on the file takes it from stdin.
 */
export async function storeUrl(
  key: 'url' | 'pushurl',
  remote: string,
  whole: string,
  { cwd, user }: Checkout,
  context: Context,
): Promise<void> {
  const run = (words: readonly string[], given: ProgramOptions) =>
    runProgram(['git', 'config', '--local', ...words], context, { cwd, runas: user, quiet: true, ...given })
  await run(['--unset-all', `remote.${remote}.${key}`], { ignoreRetcode: true })
  const { retcode, stderr } = await run(['--edit'], {
    env: { GIT_EDITOR: 'cat >>' },
    input: `[remote ${quoted(remote)}]\n\t${key} = ${quoted(whole)}\n`,
  })
  if (retcode !== 0)
    throw new CommandExecutionError(
      `The URL of the remote '${remote}' in ${cwd} cannot be written: ${stderr}`,
    )
}

/** Write the login of a URL into the checkout that was cloned from it. */
export async function storeCloned(
  url: string,
  whole: string,
  checkout: Checkout,
  context: Context,
): Promise<void> {
  const cloned = (await remoteUrls('url', checkout, context)).find((remote) => remote.url === url)
  const [, name] = /^remote\.(.*)\.url$/.exec(cloned?.key ?? '') ?? []
  if (name !== undefined) await storeUrl('url', name, whole, checkout, context)
}

async function remoteUrls(kind: string, { cwd, user }: Checkout, context: Context) {
  const words = ['config', '--local', '--get-regexp', `^remote\\..*\\.${kind}$`] as const
  const how = { cwd, runas: user, ignoreRetcode: true, quiet: true }
  const { stdout } = await runProgram(['git', ...words], context, how)
  return linesOf(stdout).map((line) => ({
    key: line.slice(0, line.indexOf(' ')),
    url: line.slice(line.indexOf(' ') + 1),
  }))
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
