/** Flags that several programs have, as Salt spells them. */
import { stat } from 'node:fs/promises'
import { boolean, custom, option, string } from '@oclif/core/flags'
import { STATE_OUTPUTS } from '../config/index.ts'
import { UsageError } from './exit-codes.ts'

const LOG_LEVELS = [
  'all',
  'garbage',
  'trace',
  'debug',
  'profile',
  'info',
  'warning',
  'error',
  'critical',
  'quiet',
] as const

/** A number of seconds or things. */
export const number = custom<number>({
  parse: async (text, _context, { name }) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value))
      throw new UsageError(`--${name} needs a number, not '${text}'.`)
    return value
  },
})

/** True or False, written as Python does or in lower case. */
const truth = custom<boolean>({
  parse: async (text, _context, { name }) => {
    const [value] = /^(?:true|false)$/i.exec(text) ?? []
    if (value === undefined) throw new UsageError(`--${name} is True or False, not '${text}'.`)
    return value.toLowerCase() === 'true'
  },
})

export const moduleDirsFlag = (description: string) =>
  string({ char: 'm', multiple: true, multipleNonGreedy: true, description, parse: folder })

async function folder(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isDirectory()) return path
  throw new UsageError(`${path} is no folder; -m (--module-dirs) names one with a folder 'modules' in it.`)
}

export const helpFlags = {
  help: boolean({ char: 'h', description: 'Show what is needed most.', helpGroup: 'COMMON' }),
  'help-all': boolean({ description: 'Show every option.', helpGroup: 'COMMON' }),
  version: boolean({ description: 'Show the version.', helpGroup: 'COMMON' }),
  'versions-report': boolean({
    char: 'V',
    description: 'Show the versions of everything.',
    helpGroup: 'COMMON',
  }),
  'hard-crash': boolean({
    description: 'Show where in the code an error arose (environment: SALT_HARD_CRASH).',
    helpGroup: 'COMMON',
  }),
}

export const configFlags = {
  'config-dir': string({
    char: 'c',
    description: 'Folder of the configuration (default: SALT_CONFIG_DIR, then /etc/salt).',
    helpGroup: 'COMMON',
  }),
  saltfile: string({
    description:
      'YAML file with defaults of these options (default: SALT_SALTFILE, ./Saltfile, ~/.salt/Saltfile).',
    helpGroup: 'COMMON',
  }),
}

const logFileFlags = {
  'log-file': string({
    description: 'Log to this file (default with --log-file-level: that of the configuration).',
    helpGroup: 'LOGGING',
  }),
  'log-file-level': string({
    options: LOG_LEVELS,
    description: 'Level of the log file.',
    helpGroup: 'LOGGING',
  }),
}

const level = {
  options: LOG_LEVELS,
  description: 'Log to standard error from this level up.',
  helpGroup: 'LOGGING',
}

export const logFlags = { 'log-level': string({ ...level, char: 'l' }), ...logFileFlags }

/** Of salt-key, whose -l lists. */
export const longLogFlags = { 'log-level': string(level), ...logFileFlags }

export const outputFlags = {
  out: string({
    aliases: ['output'],
    description: 'Outputter: nested, json, yaml, txt, …',
    helpGroup: 'OUTPUT',
  }),
  'out-indent': string({
    aliases: ['output-indent'],
    description: 'Indentation; negative: none.',
    helpGroup: 'OUTPUT',
  }),
  'out-file': string({ aliases: ['output-file'], description: 'Write to this file.', helpGroup: 'OUTPUT' }),
  'out-file-append': boolean({
    aliases: ['output-file-append'],
    description: 'Add to that file.',
    helpGroup: 'OUTPUT',
  }),
  'no-color': boolean({
    aliases: ['no-colour'],
    description: 'No colours (environment: NO_COLOR).',
    helpGroup: 'OUTPUT',
  }),
  'force-color': boolean({
    aliases: ['force-colour'],
    description: 'Colours although it is no terminal.',
    helpGroup: 'OUTPUT',
  }),
  'state-output': option({
    options: STATE_OUTPUTS,
    aliases: ['state_output'],
    description:
      'How much the highstate outputter shows: full, terse, mixed, changes, filter, each also with _id.',
    helpGroup: 'OUTPUT',
  })(),
  'state-verbose': truth({
    aliases: ['state_verbose'],
    description: 'False: leave out states that changed nothing.',
    helpGroup: 'OUTPUT',
  }),
}

/** Of salt and salt-call. */
export const diffFlag = {
  'output-diff': boolean({ description: 'Show only states that changed something.', helpGroup: 'OUTPUT' }),
}

export const docFlag = (description: string) =>
  boolean({ char: 'd', aliases: ['documentation'], description })

const argumentFlags = {
  'no-parse': string({
    description: 'Comma separated keyword arguments whose values stay text (environment: SALT_NO_PARSE).',
    helpGroup: 'ARGUMENTS',
    env: 'SALT_NO_PARSE',
  }),
  'args-stdin': boolean({
    description: 'Read further arguments from standard input.',
    helpGroup: 'ARGUMENTS',
  }),
}

export const executorFlags = {
  'module-executors': string({ description: 'List of executors.', helpGroup: 'ARGUMENTS' }),
  'executor-opts': string({ description: 'Options of executors, a map.', helpGroup: 'ARGUMENTS' }),
}

const eauth = {
  aliases: ['external-auth', 'auth'],
  description: 'Backend of external_auth: pam, ldap, …',
  helpGroup: 'AUTHENTICATION',
}
const credentialFlags = {
  'make-token': boolean({
    char: 'T',
    description: 'Keep a token for the next times (config: token_file).',
    helpGroup: 'AUTHENTICATION',
  }),
  username: string({ description: 'Who you are to that backend; asked for.', helpGroup: 'AUTHENTICATION' }),
  password: string({ description: 'Asked for; others can see it here.', helpGroup: 'AUTHENTICATION' }),
}

export const authFlags = { eauth: string({ ...eauth, char: 'a' }), ...credentialFlags }

/** Of salt-key, whose -a accepts. */
export const longAuthFlags = { eauth: string(eauth), ...credentialFlags }

/** Of salt-run and salt-call. */
export const profilingFlags = {
  'enable-profiling': boolean({
    description: 'Write where the time went, for the developer tools of a browser.',
    helpGroup: 'PROFILING',
  }),
  'profiling-path': string({
    default: '/tmp/stats',
    description: 'Folder to write that to.',
    helpGroup: 'PROFILING',
  }),
}

/** Of the programs that run a function. */
export const functionFlags = {
  ...argumentFlags,
  ...outputFlags,
  ...logFlags,
  ...configFlags,
  ...helpFlags,
}
