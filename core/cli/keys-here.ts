/** What `salt-key` does with files of this host: makes keys, signs, invites. */
import { openKeyClient } from '../client/key-client.ts'
import type { MasterConfig } from '../config/index.ts'
import { generateKeyFiles, generateSignature, type Operator } from '../keys/index.ts'
import { runAs } from './become-user.ts'
import { tell } from './console.ts'
import { exitCodes, UsageError } from './exit-codes.ts'
import type { KeyFlags } from './key-flags.ts'
import { invite, revokeInvite, showInvites } from './key-invites.ts'
import type { Printer } from './printer.ts'

export const ACTIONS_HERE = ['gen-keys', 'gen-signature', 'invite', 'invites', 'revoke-invite'] as const
export type ActionHere = (typeof ACTIONS_HERE)[number]

interface ToolsHere {
  readonly config: MasterConfig
  readonly printer: Printer
  readonly who: Operator
}

/** No master does it for somebody elsewhere. */
export async function onThisHost(action: ActionHere, flags: KeyFlags, tools: ToolsHere): Promise<number> {
  const { config, printer, who } = tools
  if (flags.eauth !== undefined) throw new UsageError(`--${action} works on this host; leave out --eauth.`)
  if (action === 'gen-keys') return generate(flags, config, printer)
  runAs('salt-key', config)
  if (action === 'gen-signature') return sign(flags, config, printer)
  const { audit } = openKeyClient({ config, who, by: 'salt-key', warn: tell })
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
  tell(made ? `Made ${paths.join(' and ')}.` : `${paths[0]} was there already, and is left as it is.`)
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
  tell(`The signature is in ${path}.`)
  await printer.print({ return: true })
  return exitCodes.ok
}
