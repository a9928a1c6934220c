/** Actions of `salt-key` that work on files of this host: generate keys, sign, invite. */
import { openKeys } from '../../client/local/open-keys.ts'
import type { MasterConfig } from '../../config/index.ts'
import { generateKeyFiles, generateSignature, type Operator } from '../../keys/index.ts'
import { switchToConfiguredUser } from '../daemons/become-user.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'
import type { KeyFlags } from './key-flags.ts'
import { invite, revokeInvite, showInvites } from './key-invites.ts'

export const LOCAL_ACTIONS = ['gen-keys', 'gen-signature', 'invite', 'invites', 'revoke-invite'] as const
export type LocalAction = (typeof LOCAL_ACTIONS)[number]

interface LocalActionTools {
  readonly config: MasterConfig
  readonly printer: Printer
  readonly who: Operator
}

/** Run an action that no master does for a remote user. */
export async function runLocalAction(
  action: LocalAction,
  flags: KeyFlags,
  tools: LocalActionTools,
): Promise<number> {
  const { config, printer, who } = tools
  if (flags.eauth !== undefined)
    throw new UsageError(`--${action} works on local files only; leave out --eauth.`)
  if (action === 'gen-keys') return generate(flags, config, printer)
  switchToConfiguredUser('salt-key', config)
  if (action === 'gen-signature') return sign(flags, config, printer)
  const { audit } = openKeys({ config, who, by: 'salt-key', warn: printNote })
  const inviting = { config, printer, who, audit }
  switch (action) {
    case 'invite':
      return invite({ ttl: flags.ttl ?? '1h', match: flags.match ?? '*', uses: flags.uses ?? 1 }, inviting)
    case 'invites':
      return showInvites(inviting)
    case 'revoke-invite':
      return revokeInvite(flags['revoke-invite'] ?? '', inviting)
  }
}

async function generate(flags: KeyFlags, config: MasterConfig, printer: Printer): Promise<number> {
  const { paths, fingerprint, made } = await generateKeyFiles({
    keydir: flags['gen-keys-dir'],
    keyname: flags['gen-keys'] ?? '',
    keysize: flags.keysize,
    user: config.user,
    hash: config.hash_type,
  })
  printNote(made ? `Generated ${paths.join(' and ')}.` : `${paths[0]} exists already and was not changed.`)
  await printer.print({ return: fingerprint })
  return exitCodes.ok
}

async function sign(flags: KeyFlags, config: MasterConfig, printer: Printer): Promise<number> {
  const path = await generateSignature(config, {
    priv: flags.priv,
    pub: flags.pub,
    signaturePath: flags['signature-path'],
    autoCreate: flags['auto-create'],
    keysize: flags.keysize,
  })
  printNote(`The signature is in ${path}.`)
  await printer.print({ return: true })
  return exitCodes.ok
}
