/** Flags of `salt-key`. */
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { configFlags, helpFlags, longAuthFlags, longLogFlags, number, outputFlags } from './flags.ts'

const one = (char: 'a' | 'r' | 'd' | 'p' | 'f' | 'l', description: string) =>
  string({ char, description, helpGroup: 'ACTIONS' })
const all = (char: 'A' | 'R' | 'D' | 'P' | 'F' | 'L', description: string) =>
  boolean({ char, description, helpGroup: 'ACTIONS' })
const trueOrFalse = (byDefault: 'True' | 'False', description: string) =>
  string({ options: ['True', 'true', 'False', 'false'], default: byDefault, description })
const making = { helpGroup: 'MAKING KEYS' }
const inviting = { helpGroup: 'INVITATIONS' }

export const keyFlags = {
  list: one('l', 'List keys: accepted, unaccepted (pre), rejected, denied or all.'),
  'list-all': all('L', 'List all keys; done if nothing else is asked for.'),
  accept: one('a', 'Accept pending keys: an id, a shell pattern, or several with commas.'),
  'accept-all': all('A', 'Accept all pending keys.'),
  reject: one('r', 'Reject pending keys.'),
  'reject-all': all('R', 'Reject all pending keys.'),
  delete: one('d', 'Delete keys, whatever their state.'),
  'delete-all': all('D', 'Delete all keys.'),
  print: one('p', 'Show keys.'),
  'print-all': all('P', 'Show all keys.'),
  finger: one('f', 'Show fingerprints.'),
  'finger-all': all('F', 'Show all fingerprints, first those of the master.'),
  'include-all': boolean({ description: 'The same as --include-rejected --include-accepted.' }),
  'include-accepted': boolean({ description: 'Include accepted keys when rejecting.' }),
  'include-rejected': boolean({ description: 'Include rejected keys when accepting.' }),
  'include-denied': boolean({ description: 'Include denied keys; accepted, they replace others.' }),
  yes: boolean({ char: 'y', description: 'Do not ask.' }),
  quiet: boolean({ char: 'q', description: 'Print only what was asked for.' }),
  'preserve-minions': trueOrFalse('False', 'Keep what is cached of deleted minions.'),
  'rotate-aes-key': trueOrFalse('True', 'A new AES key when an accepted key goes.'),
  user: string({ char: 'u', description: 'Run as this user, not as the one of the configuration.' }),
  invite: boolean({
    description: 'Print a token with which a new minion is accepted without a person.',
    ...inviting,
  }),
  ttl: string({ description: 'How long: 90s, 10m, 1h (default), 2d.', ...inviting }),
  match: string({ description: 'Shell pattern for the ids it is good for (default: *).', ...inviting }),
  uses: number({ description: 'For how many minions (default: 1).', ...inviting }),
  invites: boolean({ description: 'List open invitations.', ...inviting }),
  'revoke-invite': string({ description: 'End an invitation, by its id.', ...inviting }),
  'gen-keys': string({ description: 'Make a key pair of this name.', ...making }),
  'gen-keys-dir': string({ default: '.', description: 'Where --gen-keys puts them.', ...making }),
  keysize: number({ default: 2048, description: 'Bits of the pair, 2048 to 8192.', ...making }),
  'gen-signature': boolean({ description: 'Sign the master key with the signing key.', ...making }),
  priv: string({ description: 'The signing key (default: that of the configuration).', ...making }),
  pub: string({ description: "The key to sign (default: the master's).", ...making }),
  'signature-path': string({
    description: 'Where --gen-signature puts it (default: pki_dir).',
    ...making,
  }),
  'auto-create': boolean({ description: 'Make the signing key if there is none.', ...making }),
  ...longLogFlags,
  ...longAuthFlags,
  ...outputFlags,
  ...configFlags,
  ...helpFlags,
}

export type KeyFlags = InferredFlags<typeof keyFlags>
