/** Flags that several programs have, as Salt spells them. */
import { boolean, custom, string } from '@oclif/core/flags'
import { UsageError } from './exit-codes.ts'

export const LOG_LEVELS = [
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

export const helpFlags = {
  help: boolean({ char: 'h', description: 'Show this text.', helpGroup: 'COMMON' }),
  version: boolean({ description: 'Show the version.', helpGroup: 'COMMON' }),
  'versions-report': boolean({
    char: 'V',
    description: 'Show the versions of everything.',
    helpGroup: 'COMMON',
  }),
}

export const configFlags = {
  'config-dir': string({
    char: 'c',
    description: 'Folder of the configuration (default: SALT_CONFIG_DIR, then /etc/salt).',
    helpGroup: 'COMMON',
  }),
}

export const logFlags = {
  'log-level': string({
    char: 'l',
    options: LOG_LEVELS,
    description: 'Log to standard error from this level up.',
    helpGroup: 'LOGGING',
  }),
  'log-file': string({ description: 'Log to this file.', helpGroup: 'LOGGING' }),
  'log-file-level': string({
    options: LOG_LEVELS,
    description: 'Level of the log file.',
    helpGroup: 'LOGGING',
  }),
}

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
  'no-color': boolean({ aliases: ['no-colour'], description: 'No colours.', helpGroup: 'OUTPUT' }),
  'force-color': boolean({
    aliases: ['force-colour'],
    description: 'Colours although it is no terminal.',
    helpGroup: 'OUTPUT',
  }),
  'state-output': string({
    aliases: ['state_output'],
    description: 'How much of states: full, terse, mixed, changes, filter.',
    helpGroup: 'OUTPUT',
  }),
  'state-verbose': string({
    aliases: ['state_verbose'],
    description: 'false: leave out states that changed nothing.',
    helpGroup: 'OUTPUT',
  }),
  'output-diff': boolean({
    aliases: ['state-output-diff'],
    description: 'Only states that changed something or failed.',
    helpGroup: 'OUTPUT',
  }),
}

const argumentFlags = {
  'no-parse': string({
    description: 'Comma separated keyword arguments whose values stay text.',
    helpGroup: 'ARGUMENTS',
  }),
  'args-stdin': boolean({
    description: 'Read further arguments from standard input.',
    helpGroup: 'ARGUMENTS',
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
