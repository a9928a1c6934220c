import type { Log } from '../author/context.ts'
import type { Origin } from './component.ts'
import { FloodFilter, repeatedLine } from './flood-filter.ts'
import type { LogRecord } from './format.ts'
import { type LoggerSettings, openHandlers } from './handlers.ts'
import { granularLevels, levelNumber, type RecordLevel, recordLevels } from './levels.ts'
import { sanitize, sanitizeText } from './sanitize.ts'

type Write = Log['info']

/**
 * The log of one component. Facts are inserted where the message refers to them (`Got return from {id}`), else appended. Values of
 * secret fields are masked. Records below the level are not formatted.
 */
export interface Logger extends Log {
  critical: Write
  profile: Write
  garbage: Write
  /** Return the log of a component, by Salt's name without `salt.`: `channel.server`. */
  child(component: string, origin?: Origin): Logger
  isLevelEnabled(level: string): boolean
  /** Apply new settings to this log and its children, and open the files again. */
  reopen(settings: LoggerSettings): void
  /** Close the log file. */
  close(): Promise<void>
}

/** Open the log of a program. No file is opened before the first record that is written. */
export function createLogger(settings: LoggerSettings): Logger {
  let { handlers, granular, thresholdOf } = open(settings)
  /** Number of calls of `reopen`. Loggers cache their threshold until it changes. */
  let opened = 0
  const floods = settings.limitsFloods ? new FloodFilter() : undefined
  const logger = (name: string, origin: Origin | undefined): Logger => {
    let known = { opened, threshold: thresholdOf(name) }
    const threshold = (): number => {
      if (known.opened !== opened) known = { opened, threshold: thresholdOf(name) }
      return known.threshold
    }
    const write = (level: RecordLevel, text: string, given?: object) => {
      const number = recordLevels[level]
      const message = sanitizeText(text)
      const facts = sanitize(asFacts(given)) as LogRecord['facts']
      const record = {
        time: new Date(),
        level: number,
        levelName: level.toUpperCase(),
        name,
        message,
        facts,
        ...origin,
      }
      for (const handler of handlers) if (number >= (granular(name) ?? handler.level)) handler.write(record)
    }
    const at =
      (level: RecordLevel): Write =>
      (message, facts) => {
        if (handlers.length === 0 || recordLevels[level] < threshold()) return
        const more = (line: string, leftOut: number) => write(level, repeatedLine(line, leftOut))
        if (recordLevels[level] >= recordLevels.warning)
          if (floods && !floods.admits(name, message, facts !== undefined, more)) return
        write(level, message, facts)
      }
    return {
      garbage: at('garbage'),
      trace: at('trace'),
      debug: at('debug'),
      profile: at('profile'),
      info: at('info'),
      warn: at('warning'),
      error: at('error'),
      critical: at('critical'),
      child: (component, from = origin) => logger(`salt.${component}`, from),
      isLevelEnabled: (level) => handlers.length > 0 && levelNumber(level) >= threshold(),
      reopen(settings) {
        for (const handler of handlers) handler.close()
        ;({ handlers, granular, thresholdOf } = open(settings))
        opened++
      },
      close: async () => {
        floods?.flush()
        for (const handler of handlers) handler.close()
      },
    }
  }
  return logger(componentOf(settings.program), undefined)
}

/** Return the component of a program: the module of Salt that logs most of its lines. */
const componentOf = (program: string): string =>
  DAEMONS.has(program) ? program.replace('-', '.') : `salt.cli.${program.replace(/^salt-/, '')}`

const DAEMONS: ReadonlySet<string> = new Set(['salt-master', 'salt-minion'])

function open(settings: LoggerSettings) {
  const handlers = openHandlers(settings)
  const granular = granularLevels(settings.formats?.log_granular_levels ?? {})
  const lowest = Math.min(...handlers.map(({ level }) => level))
  return { handlers, granular, thresholdOf: (name: string): number => granular(name) ?? lowest }
}

/** Accept an error in place of facts. */
function asFacts(facts: object = {}): object {
  return facts instanceof Error ? { error: facts } : facts
}
