import { createRequire } from 'node:module'
import type { Logger as Pino } from 'pino'
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

/** Open the log of a program. Nothing is loaded or opened before the first record that is written. */
export function createLogger(settings: LoggerSettings): Logger {
  let { handlers, granular, thresholdOf } = open(settings)
  /** Number of calls of `reopen`. Loggers cache their threshold until it changes. */
  let opened = 0
  const floods = settings.limitsFloods ? new FloodFilter() : undefined
  let pino: Pino | undefined

  const deliver = (line: string): void => {
    const record = toRecord(JSON.parse(line))
    for (const handler of handlers) {
      if (record.level >= (granular(record.name) ?? handler.level)) handler.write(record)
    }
  }
  // Daemons load pino early, since it could not be loaded later without free file descriptors.
  const prepare = () => {
    pino ??= openPino(deliver)
  }
  if (settings.limitsFloods) setImmediate(prepare).unref()
  const logger = (name: string, origin: Origin | undefined): Logger => {
    let known = { opened, threshold: thresholdOf(name) }
    const threshold = (): number => {
      if (known.opened !== opened) known = { opened, threshold: thresholdOf(name) }
      return known.threshold
    }
    let own: Pino<RecordLevel> | undefined
    const write = (level: RecordLevel, message: string, facts?: object) => {
      pino ??= openPino(deliver)
      own ??= pino.child({ name, ...origin }) as unknown as Pino<RecordLevel>
      own[level]({ facts: sanitize(asFacts(facts)) }, sanitizeText(message))
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

/** Load pino, which serializes records. Called at the first record, since short commands usually have none. */
function openPino(write: (line: string) => void): Pino {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  return pino(
    { customLevels: recordLevels, useOnlyCustomLevels: true, level: 'garbage', base: undefined },
    { write },
  ) as unknown as Pino
}

const levelNames = new Map(Object.entries(recordLevels).map(([name, number]) => [number, name.toUpperCase()]))

interface PinoLine extends Partial<Origin> {
  readonly level: number
  readonly time: number
  readonly name: string
  readonly msg?: string
  readonly facts: Readonly<Record<string, unknown>>
}

function toRecord({ time, name, level, msg = '', facts, ...origin }: PinoLine): LogRecord {
  const levelName = levelNames.get(level) ?? ''
  return { time: new Date(time), level, levelName, name, message: msg, facts, ...origin }
}
