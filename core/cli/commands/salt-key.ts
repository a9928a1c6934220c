import { accessSync, constants, mkdirSync } from 'node:fs'
import type { ExternalAuth } from '../../client/local/external-auth.ts'
import { type KeyAction, type KeyOperations, localKeyOperations } from '../../client/local/key-operations.ts'
import { openKeys } from '../../client/local/open-keys.ts'
import { configDirectory, loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { type Operator, operator } from '../../keys/index.ts'
import { switchToConfiguredUser } from '../daemons/become-user.ts'
import { externalAuth, isNotMasterUser } from '../eauth.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { changeKeys, type KeySettings, printApiClientNote } from '../keys/key-actions.ts'
import { type KeyFlags, keyFlags } from '../keys/key-flags.ts'
import { LOCAL_ACTIONS, type LocalAction, runLocalAction } from '../keys/local-actions.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'
import { BaseProgram } from '../program/base-program.ts'
import { openTools, outputOverrides } from '../tools.ts'

export default class SaltKey extends BaseProgram {
  static override id = 'salt-key'
  static override strict = false
  static override description = 'Manage the keys of minions: list, accept, reject and delete them.'
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
      throw new UsageError(`salt-key takes no arguments, but was given '${argv.join(' ')}'.`)
    const who = operator()
    const loaded = loadConfig(flags)
    const { config } = loaded
    const logTo = {
      'log-file': flags['log-file'] ?? config.key_logfile,
      'log-file-level': flags['log-file-level'] ?? config.log_level_logfile,
    }
    const { printer } = await openTools('salt-key', { ...flags, ...logTo }, loaded)
    if (isLocalAction(action)) return runLocalAction(action, flags, { config, printer, who })
    const auth = await externalAuth(flags, config, isNotMasterUser)
    const keys = auth ? await remoteKeys(config, auth, flags) : localKeys(config, who)
    try {
      return await carryOut(action, flags, { printer, keys, config })
    } finally {
      await keys.close()
    }
  }
}

interface Tools {
  readonly printer: Printer
  readonly keys: KeyOperations
  readonly config: MasterConfig
}

const ACTIONS = [
  ...LOCAL_ACTIONS,
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

/** Salt's documentation shows `salt-key -F master`, where the word has no effect. */
const IGNORES_WORDS: readonly Action[] = ['finger', 'finger-all']

const isLocalAction = (action: Action): action is LocalAction => LOCAL_ACTIONS.some((name) => name === action)

/** Return the action the flags ask for. Two actions at once are refused. */
function actionOf(flags: KeyFlags): Action {
  const [action = 'list-all', other] = ACTIONS.filter(
    (name) => flags[name] !== undefined && flags[name] !== false,
  )
  if (other) throw new UsageError(`--${action} and --${other} cannot be given together.`)
  const orphan = (['ttl', 'match', 'uses'] as const).find((name) => flags[name] !== undefined)
  if (orphan && action !== 'invite') throw new UsageError(`--${orphan} needs --invite.`)
  if (flags.keysize < 2048 || flags.keysize > 8192) {
    throw new UsageError(`--keysize needs a number from 2048 to 8192, not ${flags.keysize}.`)
  }
  return action
}

/** Load the configuration. `--gen-keys` works without one that this user may read. */
function loadConfig(flags: KeyFlags) {
  const given = flags['config-dir']
  const withoutConfig = flags['gen-keys'] !== undefined && !isReadable(configDirectory(given))
  const configDir = withoutConfig ? flags['gen-keys-dir'] : given
  if (withoutConfig) mkdirSync(flags['gen-keys-dir'], { recursive: true })
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

function localKeys(config: MasterConfig, who: Operator): KeyOperations {
  switchToConfiguredUser('salt-key', config)
  return localKeyOperations(openKeys({ config, who, by: 'salt-key', warn: printNote }), config)
}

async function remoteKeys(config: MasterConfig, auth: ExternalAuth, flags: KeyFlags): Promise<KeyOperations> {
  if (isTrue(flags['preserve-minions']) || !isTrue(flags['rotate-aes-key']))
    throw new UsageError(
      'With --eauth the configuration of the master applies: leave out --preserve-minions and --rotate-aes-key.',
    )
  const { remoteKeyOperations } = await import('../../client/remote/remote-key-operations.ts')
  return remoteKeyOperations(config, auth)
}

function carryOut(action: Exclude<Action, LocalAction>, flags: KeyFlags, tools: Tools): Promise<number> {
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

/** Change all keys. Having none to change is a success. */
async function changeAll(act: KeyAction, flags: KeyFlags, tools: Tools): Promise<number> {
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

async function show(action: Action, flags: KeyFlags, { keys, printer, config }: Tools): Promise<number> {
  switch (action) {
    case 'print':
    case 'print-all':
      return shown(await keys.print(flags.print ?? '*'), flags.print, printer)
    case 'finger':
    case 'finger-all':
      return shown(await keys.finger(flags.finger ?? '*'), flags.finger, printer)
  }
  const word = flags.list ?? 'all'
  const lists = await keys.list(word)
  if (!lists) throw new UsageError(`-l takes accepted, unaccepted, rejected, denied or all, not '${word}'.`)
  await printer.print(lists, { outputter: 'key' })
  if (printer.chosen === undefined) printApiClientNote(lists, config.api_clients)
  for (const damage of (await keys.damages?.()) ?? []) printNote(`${damage}.`)
  return exitCodes.ok
}

async function shown(keys: object, match: string | undefined, printer: Printer): Promise<number> {
  const isEmpty = Object.keys(keys).length === 0
  if (!isEmpty || printer.chosen !== undefined) await printer.print(keys, { outputter: 'key' })
  if (!isEmpty || match === undefined) return exitCodes.ok
  printNote(`The key glob '${match}' does not match any keys.`)
  return exitCodes.nothing
}
