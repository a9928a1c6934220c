/** Flags of `salt-key`. */
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { configFlags, helpFlags, longAuthFlags, longLogFlags, number, outputFlags } from '../flags.ts'

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
  'list-all': all('L', 'List all keys. This is the default action.'),
  accept: one('a', 'Accept pending keys: ids or shell patterns, separated by commas.'),
  'accept-all': all('A', 'Accept all pending keys.'),
  reject: one('r', 'Reject pending keys.'),
  'reject-all': all('R', 'Reject all pending keys.'),
  delete: one('d', 'Delete keys, whatever their state.'),
  'delete-all': all('D', 'Delete all keys.'),
  print: one('p', 'Show keys.'),
  'print-all': all('P', 'Show all keys.'),
  finger: one('f', 'Show fingerprints.'),
  'finger-all': all('F', 'Show all fingerprints, those of the master first.'),
  'include-all': boolean({ description: 'The same as --include-rejected --include-accepted.' }),
  'include-accepted': boolean({ description: 'Include accepted keys when rejecting.' }),
  'include-rejected': boolean({ description: 'Include rejected keys when accepting.' }),
  'include-denied': boolean({
    description: 'Include denied keys. Accepting one replaces the accepted key of that minion.',
  }),
  yes: boolean({ char: 'y', description: 'Do not ask for confirmation.' }),
  quiet: boolean({ char: 'q', description: 'Print nothing about changes.' }),
  'preserve-minions': trueOrFalse('False', 'Keep the cached data of deleted minions.'),
  'rotate-aes-key': trueOrFalse('True', 'Rotate the AES key of the master when an accepted key is deleted.'),
  user: string({ char: 'u', description: 'Run as this user instead of the one in the configuration.' }),
  invite: boolean({
    description: 'Print a token that lets a new minion be accepted automatically.',
    ...inviting,
  }),
  ttl: string({ description: 'How long the token is valid: 90s, 10m, 1h (default), 2d.', ...inviting }),
  match: string({
    description: 'Shell pattern of the minion ids that may use the token (default: *).',
    ...inviting,
  }),
  uses: number({ description: 'How many minions may use the token (default: 1).', ...inviting }),
  invites: boolean({ description: 'List open invitations.', ...inviting }),
  'revoke-invite': string({ description: 'Revoke the invitation with this id.', ...inviting }),
  'gen-keys': string({ description: 'Generate a key pair with this name.', ...making }),
  'gen-keys-dir': string({ default: '.', description: 'Folder for the key pair of --gen-keys.', ...making }),
  keysize: number({ default: 2048, description: 'Size of the key pair in bits, 2048 to 8192.', ...making }),
  'gen-signature': boolean({
    description: 'Sign the public key of the master with the signing key.',
    ...making,
  }),
  priv: string({ description: 'File of the signing key (default: that of the configuration).', ...making }),
  pub: string({ description: "File of the public key to sign (default: the master's).", ...making }),
  'signature-path': string({
    description: 'Folder for the signature of --gen-signature (default: pki_dir).',
    ...making,
  }),
  'auto-create': boolean({ description: 'Generate the signing key if there is none.', ...making }),
  ...longLogFlags,
  ...longAuthFlags,
  ...outputFlags,
  ...configFlags,
  ...helpFlags,
}

export type KeyFlags = InferredFlags<typeof keyFlags>
