/** Flags that several programs have, under Salt's names. */
import { stat } from 'node:fs/promises'
import { boolean, custom, option, string } from '@oclif/core/flags'
import { LOG_LEVELS, STATE_OUTPUTS } from '../config/index.ts'
import { durationSeconds } from '../dialect/duration.ts'
import { UsageError } from './exit-codes.ts'

/** A flag with a number. */
export const number = custom<number>({
  parse: async (text, _context, { name }) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value))
      throw new UsageError(`--${name} needs a number, not '${text}'.`)
    return value
  },
})

/** A flag with a duration, in seconds. */
export const duration = custom<number>({
  parse: async (text, _context, { name }) => {
    const seconds = durationSeconds(text)
    if (seconds === undefined)
      throw new UsageError(`--${name} needs a duration such as 45m, 2h, 1d or 90 (seconds), not '${text}'.`)
    return seconds
  },
})

/** A flag with True or False, in any case. */
const truth = custom<boolean>({
  parse: async (text, _context, { name }) => {
    const [value] = /^(?:true|false)$/i.exec(text) ?? []
    if (value === undefined) throw new UsageError(`--${name} needs True or False, not '${text}'.`)
    return value.toLowerCase() === 'true'
  },
})

export const moduleDirsFlag = (description: string) =>
  string({ char: 'm', multiple: true, multipleNonGreedy: true, description, parse: folder })

async function folder(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isDirectory()) return path
  throw new UsageError(
    `${path} is not a folder. -m (--module-dirs) needs a folder that contains a folder 'modules'.`,
  )
}

export const helpFlags = {
  help: boolean({ char: 'h', description: 'Show the most important options.', helpGroup: 'COMMON' }),
  'help-all': boolean({ description: 'Show all options.', helpGroup: 'COMMON' }),
  version: boolean({ description: 'Show the version.', helpGroup: 'COMMON' }),
  'versions-report': boolean({
    char: 'V',
    description: 'Show the versions of salt-ts, Node and libraries.',
    helpGroup: 'COMMON',
  }),
  'hard-crash': boolean({
    description: 'Show the stack of an error (environment: SALT_HARD_CRASH).',
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
    description: 'YAML file with default options (default: SALT_SALTFILE, ./Saltfile, ~/.salt/Saltfile).',
    helpGroup: 'COMMON',
  }),
}

const logFileFlags = {
  'log-file': string({
    description: 'Log to this file (default with --log-file-level: log_file of the configuration).',
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
  description: 'Log to standard error, from this level up.',
  helpGroup: 'LOGGING',
}

export const logFlags = { 'log-level': string({ ...level, char: 'l' }), ...logFileFlags }

/** Log flags of salt-key, whose -l lists keys. */
export const longLogFlags = { 'log-level': string(level), ...logFileFlags }

export const outputFlags = {
  out: string({
    aliases: ['output'],
    description: 'Outputter: nested, json, yaml, txt, …',
    helpGroup: 'OUTPUT',
  }),
  'out-indent': string({
    aliases: ['output-indent'],
    description: 'Number of spaces to indent by; a negative number prints on one line.',
    helpGroup: 'OUTPUT',
  }),
  'out-file': string({
    aliases: ['output-file'],
    description: 'Write the output to this file.',
    helpGroup: 'OUTPUT',
  }),
  'out-file-append': boolean({
    aliases: ['output-file-append'],
    description: 'Append to that file.',
    helpGroup: 'OUTPUT',
  }),
  'no-color': boolean({
    aliases: ['no-colour'],
    description: 'Print without colours (environment: NO_COLOR).',
    helpGroup: 'OUTPUT',
  }),
  'force-color': boolean({
    aliases: ['force-colour'],
    description: 'Print colours even if the output is not a terminal.',
    helpGroup: 'OUTPUT',
  }),
  'state-output': option({
    options: STATE_OUTPUTS,
    aliases: ['state_output'],
    description:
      'What the highstate outputter shows: full, terse, mixed, changes or filter, each also with _id.',
    helpGroup: 'OUTPUT',
  })(),
  'state-verbose': truth({
    aliases: ['state_verbose'],
    description: 'With False, leave out states that changed nothing.',
    helpGroup: 'OUTPUT',
  }),
}

/** Flag of salt and salt-call. */
export const diffFlag = {
  'output-diff': boolean({ description: 'Show only states that changed something.', helpGroup: 'OUTPUT' }),
}

export const docFlag = (description: string) =>
  boolean({ char: 'd', aliases: ['documentation'], description })

const argumentFlags = {
  'no-parse': string({
    description:
      'Keyword arguments whose values stay text, separated by commas (environment: SALT_NO_PARSE).',
    helpGroup: 'ARGUMENTS',
    env: 'SALT_NO_PARSE',
  }),
  'args-stdin': boolean({
    description: 'Read further arguments from standard input, one per line.',
    helpGroup: 'ARGUMENTS',
  }),
}

export const executorFlags = {
  'module-executors': string({
    description: 'Executors to run functions with, as a YAML list.',
    helpGroup: 'ARGUMENTS',
  }),
  'executor-opts': string({
    description: 'Options of the executors, as a YAML map.',
    helpGroup: 'ARGUMENTS',
  }),
}

const eauth = {
  aliases: ['external-auth', 'auth'],
  description: 'Authenticate with this backend of external_auth: pam, ldap, …',
  helpGroup: 'AUTHENTICATION',
}
const credentialFlags = {
  'make-token': boolean({
    char: 'T',
    description: 'Store a token for the next calls (config: token_file).',
    helpGroup: 'AUTHENTICATION',
  }),
  username: string({
    description: 'User name for that backend; prompted for if missing.',
    helpGroup: 'AUTHENTICATION',
  }),
  password: string({
    description: 'Password. Better leave it to the prompt: other users can see command lines.',
    helpGroup: 'AUTHENTICATION',
  }),
}

export const authFlags = { eauth: string({ ...eauth, char: 'a' }), ...credentialFlags }

/** Authentication flags of salt-key, whose -a accepts keys. */
export const longAuthFlags = { eauth: string(eauth), ...credentialFlags }

/** Flags of salt-run and salt-call. */
export const profilingFlags = {
  'enable-profiling': boolean({
    description: 'Write a CPU profile for the developer tools of a browser.',
    helpGroup: 'PROFILING',
  }),
  'profiling-path': string({
    default: '/tmp/stats',
    description: 'Folder for the CPU profile.',
    helpGroup: 'PROFILING',
  }),
}

/** Flags of the programs that run a function. */
export const functionFlags = {
  ...argumentFlags,
  ...outputFlags,
  ...logFlags,
  ...configFlags,
  ...helpFlags,
}
