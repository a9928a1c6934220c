import { accessSync, constants, mkdirSync } from 'node:fs'
import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { type KeyClient, openKeyClient } from '../../client/key-client.ts'
import { configDirectory, loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { generateKeyFiles, generateSignature, type Operator, operator } from '../../keys/index.ts'
import { runAs } from '../become-user.ts'
import { tell } from '../console.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { configFlags, helpFlags, LOG_LEVELS, logFlags, number, outputFlags } from '../flags.ts'
import { changeKeys, type KeySettings } from '../key-actions.ts'
import { invite, revokeInvite, showInvites } from '../key-invites.ts'
import type { Printer } from '../printer.ts'
import { openTools } from '../tools.ts'

const one = (char: 'a' | 'r' | 'd' | 'p' | 'f' | 'l', description: string) =>
  string({ char, description, helpGroup: 'ACTIONS' })
const all = (char: 'A' | 'R' | 'D' | 'P' | 'F' | 'L', description: string) =>
  boolean({ char, description, helpGroup: 'ACTIONS' })
const trueOrFalse = (byDefault: 'True' | 'False', description: string) =>
  string({ options: ['True', 'true', 'False', 'false'], default: byDefault, description })
const making = { helpGroup: 'MAKING KEYS' }
const inviting = { helpGroup: 'INVITATIONS' }

export default class SaltKey extends Command {
  static override id = 'salt-key'
  static override description = 'Decide which minions may speak with this master.'
  static override usage = 'salt-key [options]'
  static override examples = [
    'salt-key -L',
    'salt-key -a web01',
    "salt-key -d 'web*,db1' -y",
    'salt-key -F',
    "salt-key --invite --match 'web*'",
  ]
  static override flags = {
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
    ...logFlags,
    'log-level': string({
      options: LOG_LEVELS,
      description: 'Log to standard error from this level up.',
      helpGroup: 'LOGGING',
    }),
    ...outputFlags,
    ...configFlags,
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltKey)
    const action = actionOf(flags)
    const who = operator()
    const loaded = loadConfig(flags)
    const { config } = loaded
    const logTo = {
      'log-file': flags['log-file'] ?? config.key_logfile,
      'log-file-level': flags['log-file-level'] ?? config.log_level_logfile,
    }
    const { printer } = await openTools('salt-key', { ...flags, ...logTo }, loaded)
    if (action === 'gen-keys') return generate(flags, config, printer)
    runAs(config.user)
    if (action === 'gen-signature') return sign(flags, config, printer)
    const client = openKeyClient({ config, who, by: 'salt-key', warn: tell })
    return carryOut(action, flags, { config, printer, who, ...client })
  }
}

type Flags = InferredFlags<typeof SaltKey.flags>

interface Tools extends KeyClient {
  readonly config: MasterConfig
  readonly printer: Printer
  readonly who: Operator
}

const ACTIONS = [
  'gen-keys',
  'gen-signature',
  'list',
  'list-all',
  'print',
  'print-all',
  'accept',
  'accept-all',
  'reject',
  'reject-all',
  'delete',
  'delete-all',
  'finger',
  'finger-all',
  'invite',
  'invites',
  'revoke-invite',
] as const
type Action = (typeof ACTIONS)[number]

/** What was asked for; two things at once are not clear. */
function actionOf(flags: Flags): Action {
  const [action = 'list-all', other] = ACTIONS.filter(
    (name) => flags[name] !== undefined && flags[name] !== false,
  )
  if (other) throw new UsageError(`--${action} and --${other} cannot be given together.`)
  const idle = (['ttl', 'match', 'uses'] as const).find((name) => flags[name] !== undefined)
  if (idle && action !== 'invite') throw new UsageError(`--${idle} belongs to --invite.`)
  if (flags.keysize < 2048 || flags.keysize > 8192) {
    throw new UsageError(`--keysize needs a number from 2048 to 8192, not ${flags.keysize}.`)
  }
  return action
}

/** Whoever only makes a key pair need not be able to read the configuration. */
function loadConfig(flags: Flags) {
  const given = flags['config-dir']
  const needless = flags['gen-keys'] !== undefined && !isReadable(configDirectory(given))
  const configDir = needless ? flags['gen-keys-dir'] : given
  if (needless) mkdirSync(flags['gen-keys-dir'], { recursive: true })
  const overrides = {
    user: flags.user,
    ...(flags['rotate-aes-key'].toLowerCase() === 'false' && { rotate_aes_key: false }),
    ...(flags['preserve-minions'].toLowerCase() === 'true' && { preserve_minions: true }),
  }
  return loadMasterConfig({ ...(configDir && { configDir }), overrides })
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function carryOut(action: Action, flags: Flags, tools: Tools): Promise<number> {
  switch (action) {
    case 'accept':
    case 'reject':
    case 'delete':
      return changeKeys(action, flags[action] ?? '', settingsOf(flags, tools))
    case 'accept-all':
      return changeAll('accept', flags, tools)
    case 'reject-all':
      return changeAll('reject', flags, tools)
    case 'delete-all':
      return changeAll('delete', flags, tools)
    case 'invite':
      return invite({ ttl: flags.ttl ?? '1h', match: flags.match ?? '*', uses: flags.uses ?? 1 }, tools)
    case 'invites':
      return showInvites(tools)
    case 'revoke-invite':
      return revokeInvite(flags['revoke-invite'] ?? '', tools)
    default:
      return show(action, flags, tools)
  }
}

/** All of none is done, too. */
async function changeAll(act: 'accept' | 'reject' | 'delete', flags: Flags, tools: Tools): Promise<number> {
  const code = await changeKeys(act, '*', settingsOf(flags, tools))
  return code === exitCodes.nothing ? exitCodes.ok : code
}

function settingsOf(flags: Flags, tools: Tools): KeySettings {
  const all = flags['include-all']
  return {
    ...tools,
    asData: flags.out !== undefined || flags['out-file'] !== undefined,
    yes: flags.yes,
    quiet: flags.quiet,
    include: {
      accepted: all || flags['include-accepted'],
      rejected: all || flags['include-rejected'],
      denied: flags['include-denied'],
    },
  }
}

async function show(action: Action, flags: Flags, { view, printer }: Tools): Promise<number> {
  switch (action) {
    case 'print':
    case 'print-all':
      return shown(await view.print(flags.print ?? '*'), flags.print, printer)
    case 'finger':
    case 'finger-all':
      return shown(await view.finger(flags.finger ?? '*'), flags.finger, printer)
  }
  const word = flags.list ?? 'all'
  const lists = await view.list(word)
  if (!lists) throw new UsageError(`-l knows accepted, unaccepted, rejected, denied and all, not '${word}'.`)
  await printer.print(lists, { outputter: 'key' })
  return exitCodes.ok
}

async function shown(keys: object, match: string | undefined, printer: Printer): Promise<number> {
  const isEmpty = Object.keys(keys).length === 0
  if (!isEmpty || printer.chosen !== undefined) await printer.print(keys, { outputter: 'key' })
  if (!isEmpty || match === undefined) return exitCodes.ok
  tell(`The key glob '${match}' does not match any keys.`)
  return exitCodes.nothing
}

async function generate(flags: Flags, config: MasterConfig, printer: Printer): Promise<number> {
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

async function sign(flags: Flags, config: MasterConfig, printer: Printer): Promise<number> {
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
