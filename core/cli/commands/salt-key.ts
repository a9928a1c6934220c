import { accessSync, constants, mkdirSync } from 'node:fs'
import type { ExternalAuth } from '../../client/external-auth.ts'
import { openKeyClient } from '../../client/key-client.ts'
import { type KeyAct, type KeyDesk, localKeyDesk } from '../../client/key-desk.ts'
import { configDirectory, loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { type Operator, operator } from '../../keys/index.ts'
import { tellApiClients } from '../api-client-keys.ts'
import { BaseProgram } from '../base-program.ts'
import { runAs } from '../become-user.ts'
import { tell } from '../console.ts'
import { externalAuth, isStranger } from '../eauth.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { changeKeys, type KeySettings } from '../key-actions.ts'
import { type KeyFlags, keyFlags } from '../key-flags.ts'
import { ACTIONS_HERE, type ActionHere, onThisHost } from '../keys-here.ts'
import type { Printer } from '../printer.ts'
import { openTools, outputOverrides } from '../tools.ts'

export default class SaltKey extends BaseProgram {
  static override id = 'salt-key'
  static override strict = false
  static override description = 'Decide which minions may speak with this master.'
  static override usage = 'salt-key [options]'
  static override examples = [
    'salt-key -L',
    'salt-key -a web01',
    "salt-key -d 'web*,db1' -y",
    'salt-key -F',
    "salt-key --invite --match 'web*'",
  ]
  static readonly essential = [
    'list-all',
    'accept',
    'accept-all',
    'reject',
    'delete',
    'print',
    'finger',
    'finger-all',
    'invite',
    'yes',
    'out',
    'config-dir',
  ]
  static override flags = keyFlags

  override async run(): Promise<number> {
    const { flags, argv } = await this.parse(SaltKey)
    const action = actionOf(flags)
    if (argv.length > 0 && !IGNORES_WORDS.includes(action))
      throw new UsageError(`'${argv.join(' ')}' is too much.`)
    const who = operator()
    const loaded = loadConfig(flags)
    const { config } = loaded
    const logTo = {
      'log-file': flags['log-file'] ?? config.key_logfile,
      'log-file-level': flags['log-file-level'] ?? config.log_level_logfile,
    }
    const { printer } = await openTools('salt-key', { ...flags, ...logTo }, loaded)
    if (isForHere(action)) return onThisHost(action, flags, { config, printer, who })
    const auth = await externalAuth(flags, config, isStranger)
    const desk = auth ? await remoteDesk(config, auth, flags) : localDesk(config, who)
    try {
      return await carryOut(action, flags, { printer, desk, config })
    } finally {
      await desk.close()
    }
  }
}

interface Tools {
  readonly printer: Printer
  readonly desk: KeyDesk
  readonly config: MasterConfig
}

const ACTIONS = [
  ...ACTIONS_HERE,
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
] as const
type Action = (typeof ACTIONS)[number]

/** Salt's documentation has `salt-key -F master`, where the word changes nothing. */
const IGNORES_WORDS: readonly Action[] = ['finger', 'finger-all']

const isForHere = (action: Action): action is ActionHere => ACTIONS_HERE.some((name) => name === action)

/** What was asked for; two things at once are not clear. */
function actionOf(flags: KeyFlags): Action {
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
function loadConfig(flags: KeyFlags) {
  const given = flags['config-dir']
  const needless = flags['gen-keys'] !== undefined && !isReadable(configDirectory(given))
  const configDir = needless ? flags['gen-keys-dir'] : given
  if (needless) mkdirSync(flags['gen-keys-dir'], { recursive: true })
  const overrides = {
    ...outputOverrides(flags),
    user: flags.user,
    ...(!isTrue(flags['rotate-aes-key']) && { rotate_aes_key: false }),
    ...(isTrue(flags['preserve-minions']) && { preserve_minions: true }),
  }
  return loadMasterConfig({ ...(configDir && { configDir }), overrides })
}

const isTrue = (typed: string): boolean => typed.toLowerCase() === 'true'

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function localDesk(config: MasterConfig, who: Operator): KeyDesk {
  runAs('salt-key', config)
  return localKeyDesk(openKeyClient({ config, who, by: 'salt-key', warn: tell }))
}

async function remoteDesk(config: MasterConfig, auth: ExternalAuth, flags: KeyFlags): Promise<KeyDesk> {
  if (isTrue(flags['preserve-minions']) || !isTrue(flags['rotate-aes-key']))
    throw new UsageError(
      'Through --eauth the configuration of the master decides: leave out --preserve-minions and --rotate-aes-key.',
    )
  const { remoteKeyDesk } = await import('../../client/remote-key-desk.ts')
  return remoteKeyDesk(config, auth)
}

function carryOut(action: Exclude<Action, ActionHere>, flags: KeyFlags, tools: Tools): Promise<number> {
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
    default:
      return show(action, flags, tools)
  }
}

/** All of none is done, too. */
async function changeAll(act: KeyAct, flags: KeyFlags, tools: Tools): Promise<number> {
  const code = await changeKeys(act, '*', settingsOf(flags, tools))
  return code === exitCodes.nothing ? exitCodes.ok : code
}

function settingsOf(flags: KeyFlags, tools: Tools): KeySettings {
  const all = flags['include-all']
  return {
    ...tools,
    asData: flags.out !== undefined || flags['out-file'] !== undefined,
    yes: flags.yes,
    quiet: flags.quiet,
    apiClients: tools.config.api_clients,
    include: {
      accepted: all || flags['include-accepted'],
      rejected: all || flags['include-rejected'],
      denied: flags['include-denied'],
    },
  }
}

async function show(action: Action, flags: KeyFlags, { desk, printer, config }: Tools): Promise<number> {
  switch (action) {
    case 'print':
    case 'print-all':
      return shown(await desk.print(flags.print ?? '*'), flags.print, printer)
    case 'finger':
    case 'finger-all':
      return shown(await desk.finger(flags.finger ?? '*'), flags.finger, printer)
  }
  const word = flags.list ?? 'all'
  const lists = await desk.list(word)
  if (!lists) throw new UsageError(`-l knows accepted, unaccepted, rejected, denied and all, not '${word}'.`)
  await printer.print(lists, { outputter: 'key' })
  if (printer.chosen === undefined) tellApiClients(lists, config.api_clients)
  return exitCodes.ok
}

async function shown(keys: object, match: string | undefined, printer: Printer): Promise<number> {
  const isEmpty = Object.keys(keys).length === 0
  if (!isEmpty || printer.chosen !== undefined) await printer.print(keys, { outputter: 'key' })
  if (!isEmpty || match === undefined) return exitCodes.ok
  tell(`The key glob '${match}' does not match any keys.`)
  return exitCodes.nothing
}
