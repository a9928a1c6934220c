import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { MasterConfig } from '../../config/index.ts'
import { KeyStore } from '../../keys/key-store.ts'
import { runAs } from '../become-user.ts'
import { tell } from '../console.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { configFlags, helpFlags, longAuthFlags, longLogFlags, number, outputFlags } from '../flags.ts'
import { changeKeys, type KeyAct, type KeySettings } from '../key-actions.ts'
import { fingerKeys, generateKeys, generateSignature, listKeys, printKeys } from '../key-files.ts'
import type { Printer } from '../printer.ts'
import { openMasterTools } from '../tools.ts'

const one = (char: 'a' | 'r' | 'd' | 'p' | 'f' | 'l', description: string) =>
  string({ char, description, helpGroup: 'ACTIONS' })
const all = (char: 'A' | 'R' | 'D' | 'P' | 'F' | 'L', description: string) =>
  boolean({ char, description, helpGroup: 'ACTIONS' })

export default class SaltKey extends Command {
  static override id = 'salt-key'
  static override description = 'Decide which minions may speak with this master.'
  static override usage = 'salt-key [options]'
  static override examples = ['salt-key -L', 'salt-key -a web01', "salt-key -d 'web*' -y", 'salt-key -F']
  static readonly essential = [
    'list-all',
    'accept',
    'accept-all',
    'reject',
    'delete',
    'print',
    'finger',
    'finger-all',
    'yes',
    'out',
    'config-dir',
  ]
  static override flags = {
    list: one('l', 'List keys: accepted, unaccepted (pre), rejected, denied or all.'),
    'list-all': all('L', 'List all keys; done if nothing else is asked for.'),
    accept: one('a', 'Accept pending keys: an id or a shell pattern.'),
    'accept-all': all('A', 'Accept all pending keys.'),
    reject: one('r', 'Reject pending keys.'),
    'reject-all': all('R', 'Reject all pending keys.'),
    delete: one('d', 'Delete keys, whatever their state.'),
    'delete-all': all('D', 'Delete all keys.'),
    print: one('p', 'Show keys.'),
    'print-all': all('P', 'Show all keys.'),
    finger: one('f', 'Show fingerprints.'),
    'finger-all': all('F', 'Show all fingerprints, first those of the master.'),
    'gen-keys': string({ description: 'Make a key pair of this name.', helpGroup: 'ACTIONS' }),
    'gen-signature': boolean({
      description: 'Sign the master key with the signing key.',
      helpGroup: 'ACTIONS',
    }),
    'include-all': boolean({ description: 'Include keys of the other states.' }),
    'include-accepted': boolean({ description: 'Include accepted keys when rejecting.' }),
    'include-rejected': boolean({ description: 'Include rejected keys when accepting.' }),
    'include-denied': boolean({ description: 'Include denied keys.' }),
    yes: boolean({ char: 'y', description: 'Do not ask.' }),
    quiet: boolean({ char: 'q', description: 'Print only what was asked for.' }),
    'preserve-minions': boolean({ description: 'Keep what is cached of deleted minions.' }),
    'rotate-aes-key': string({
      options: ['True', 'true', 'False', 'false'],
      default: 'True',
      description: 'A new AES key when an accepted key goes.',
    }),
    'gen-keys-dir': string({ default: '.', description: 'Where --gen-keys puts them.' }),
    keysize: number({ default: 2048, description: 'Bits of the pair, at least 2048.' }),
    'signature-path': string({ description: 'Where --gen-signature puts it (default: pki_dir).' }),
    'auto-create': boolean({ description: 'Make the signing key if there is none.' }),
    user: string({ char: 'u', description: 'Work as this user (config: user).' }),
    ...longLogFlags,
    ...longAuthFlags,
    ...outputFlags,
    ...configFlags,
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltKey)
    if (flags.eauth !== undefined || flags['make-token'])
      throw new UsageError('salt-key works on the keys of this host; through --eauth it cannot yet.')
    const name = flags['gen-keys']
    if (name !== undefined) return made(await generateKeys(name, flags['gen-keys-dir'], flags.keysize))
    const { config, printer } = await openMasterTools(
      'salt-key',
      flags,
      flags.user === undefined ? {} : { user: flags.user },
    )
    runAs(config.user)
    if (flags['gen-signature']) {
      const folder = flags['signature-path'] ?? config.pki_dir
      return made([await generateSignature(config, folder, flags['auto-create'])])
    }
    const store = new KeyStore(config.pki_dir)
    const change = changeOf(flags)
    if (change) return changeKeys(change.act, change.match, settingsOf(flags, { config, store, printer }))
    return show(flags, { config, store, printer })
  }
}

type Flags = InferredFlags<typeof SaltKey.flags>

interface Tools {
  readonly config: MasterConfig
  readonly store: KeyStore
  readonly printer: Printer
}

/** The change that was asked for; none is fine, two are not. */
function changeOf(flags: Flags): { act: KeyAct; match: string } | undefined {
  const asked = (['accept', 'reject', 'delete'] as const).flatMap((act) => {
    const match = flags[`${act}-all`] ? '*' : flags[act]
    return match === undefined ? [] : [{ act, match }]
  })
  if (asked.length > 1)
    throw new UsageError(`--${asked[0]?.act} and --${asked[1]?.act} cannot be given together.`)
  return asked[0]
}

function settingsOf(flags: Flags, tools: Tools): KeySettings {
  const all = flags['include-all']
  return {
    ...tools,
    yes: flags.yes,
    quiet: flags.quiet,
    include: {
      accepted: all || flags['include-accepted'],
      rejected: all || flags['include-rejected'],
      denied: all || flags['include-denied'],
    },
    rotateAesKey: flags['rotate-aes-key'].toLowerCase() === 'true',
    preserveMinions:
      flags['preserve-minions'] || tools.config.preserve_minions || tools.config.preserve_minion_cache,
  }
}

async function show(flags: Flags, { config, store, printer }: Tools): Promise<number> {
  const print = flags['print-all'] ? '*' : flags.print
  if (print !== undefined) return shown(await printKeys(print, store), print, printer)
  const finger = flags['finger-all'] ? '*' : flags.finger
  if (finger !== undefined) return shown(await fingerKeys(finger, store, config), finger, printer)
  const list = flags['list-all'] ? 'all' : (flags.list ?? 'all')
  const lists = await listKeys(list, store)
  if (!lists) throw new UsageError(`-l knows accepted, unaccepted, rejected, denied and all, not '${list}'.`)
  await printer.print(lists, { outputter: 'key' })
  return exitCodes.ok
}

async function shown(keys: object, match: string, printer: Printer): Promise<number> {
  if (Object.keys(keys).length > 0) await printer.print(keys, { outputter: 'key' })
  else if (match !== '*') tell(`The key glob '${match}' does not match any keys.`)
  return Object.keys(keys).length > 0 || match === '*' ? exitCodes.ok : exitCodes.failed
}

function made(paths: readonly string[]): number {
  for (const path of paths) process.stdout.write(`${path}\n`)
  return exitCodes.ok
}
