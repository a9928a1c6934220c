import { stat } from 'node:fs/promises'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { readIfThere } from '../../base/files/read-if-there.ts'
import type { SignInJoin } from '../../channel/sign-in-client.ts'
import type { MinionConfig } from '../../config/index.ts'
import { inviteIdOf, joinProof, parseJoinToken, plainFingerprint, verifierOf } from '../../keys/join-token.ts'

type Config = Pick<MinionConfig, 'join_token' | 'join_token_file'>

/**
 * Return what a sign-in needs of the join token; undefined if there is no token, or, after a log entry, if it is not
 * usable. The token is read at each sign-in, so that it can be added while the minion waits.
 */
export async function joinOf(config: Config, log: Log): Promise<SignInJoin | undefined> {
  try {
    const text = await findToken(config, log)
    return text === undefined ? undefined : joinWith(text)
  } catch (error) {
    log.error(`The join token cannot be used, so the minion signs in without it. ${messageOf(error)}`)
    return undefined
  }
}

function joinWith(text: string): SignInJoin {
  const { secret, master } = parseJoinToken(text)
  return {
    prove: (claim) => ({ invite: inviteIdOf(secret), proof: joinProof(verifierOf(secret), claim) }),
    refusal(key) {
      const found = plainFingerprint(key)
      if (master === undefined || found === master) return undefined
      return (
        `This is not the master that made the join token. Its key has the fingerprint ${found}, and the token names ` +
        `${master}. Either the option master is wrong, or another host impersonates that master.`
      )
    },
  }
}

/** Return the token of the option, else of the file, else of the environment. */
async function findToken({ join_token, join_token_file }: Config, log: Log): Promise<string | undefined> {
  if (join_token) return join_token
  const inFile = join_token_file ? await readToken(join_token_file, log) : undefined
  return inFile || process.env.SALT_JOIN_TOKEN?.trim() || undefined
}

/** Read the token. The file may be missing, since users remove it after use. */
async function readToken(path: string, log: Log): Promise<string | undefined> {
  const text = await readIfThere(path)
  if (text !== undefined && ((await stat(path)).mode & 0o077) !== 0) {
    log.warn(`Other users can read the join token in ${path} (join_token_file). Run: chmod 0600 ${path}`)
  }
  return text?.trim()
}
