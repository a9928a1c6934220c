import { stat } from 'node:fs/promises'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { readIfThere } from '../base/read-if-there.ts'
import type { SignInJoin } from '../channel/sign-in-client.ts'
import type { MinionConfig } from '../config/index.ts'
import { inviteIdOf, joinProof, parseJoinToken, plainFingerprint, verifierOf } from '../keys/join-token.ts'

type Config = Pick<MinionConfig, 'join_token' | 'join_token_file'>

/**
 * The join token of this minion as it is used at a sign-in; undefined if there is none, or none that can be used, which
 * is said. Read anew each time, so that a token can be handed to a minion that waits.
 */
export async function joinOf(config: Config, log: Log): Promise<SignInJoin | undefined> {
  try {
    const text = await findToken(config, log)
    return text === undefined ? undefined : joinWith(text)
  } catch (error) {
    log.error(`This minion signs in without a join token. ${messageOf(error)}`)
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
        `${master}. Either the option master is wrong, or somebody pretends to be that master.`
      )
    },
  }
}

/** The option wins over the file, and that over the environment. */
async function findToken({ join_token, join_token_file }: Config, log: Log): Promise<string | undefined> {
  if (join_token) return join_token
  const inFile = join_token_file ? await readToken(join_token_file, log) : undefined
  return inFile || process.env.SALT_JOIN_TOKEN?.trim() || undefined
}

/** It may have been removed after its use. */
async function readToken(path: string, log: Log): Promise<string | undefined> {
  const text = await readIfThere(path)
  if (text !== undefined && ((await stat(path)).mode & 0o077) !== 0) {
    log.warn(`Others may read the join token in ${path} (join_token_file). Run: chmod 0600 ${path}`)
  }
  return text?.trim()
}
