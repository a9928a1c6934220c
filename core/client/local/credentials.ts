import { currentUser } from '../../base/current-user.ts'
import { SaltError } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { readRootKey } from '../../keys/root-key.ts'

/** Return name and key of the user who runs this program (wire protocol §14.4, §8.1). */
export async function localCredentials(config: MasterConfig): Promise<{ user: string; key: string }> {
  const me = currentUser()
  const sudo = process.env.SUDO_USER
  const user = me === 'root' && sudo && sudo !== 'root' ? `sudo_${sudo}` : me
  const owner = user.startsWith('sudo_') || me === 'root' ? config.user : me
  const key = (await readRootKey(config, owner)) ?? (await readRootKey(config, config.user))
  if (key) return { user, key }
  throw new SaltError(
    'PERMISSIONS',
    `No key of the master can be read in ${config.cachedir}: either the master has never been started with this ` +
      `configuration, or user ${me} may not act for it. Run the command as ${config.user}, or add ${me} to publisher_acl.`,
  )
}
