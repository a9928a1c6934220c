import { createRequire } from 'node:module'
import type { Logger as Pino } from 'pino'
import type { Log } from '../author/context.ts'
import type { Origin } from './component.ts'
import { andMore, Floods } from './floods.ts'
import type { LogRecord } from './format.ts'
import { granularLevels, levelNumber, type RecordLevel, recordLevels } from './levels.ts'
import { type LoggerSettings, openOutlets } from './outlets.ts'
import { presentable, presentableText } from './presentable.ts'

type Write = Log['info']

/**
 * A log of one component. Facts are shown where the message names them, `Got return from {id}`, else after it; values of
 * secret fields are masked. Nothing of that is done for a line that nobody wants to see.
 */
export interface Logger extends Log {
  critical: Write
  profile: Write
  garbage: Write
  /** The log of a component, by Salt's name without `salt.`: `channel.server`. */
  child(component: string, origin?: Origin): Logger
  isLevelEnabled(level: string): boolean
  /** Go on as these settings say, children as well, with files that are opened again. */
  reopen(settings: LoggerSettings): void
  /** Closes the log file. */
  close(): Promise<void>
}

/** Open the log of a program. Nothing is loaded or opened before the first record that somebody wants to see. */
export function createLogger(settings: LoggerSettings): Logger {
  let { outlets, granular, thresholdOf } = open(settings)
  /** Counts how often it was opened: a logger goes by its threshold until then. */
  let opened = 0
  const floods = settings.countsFloods ? new Floods() : undefined
  let pino: Pino | undefined

  const deliver = (line: string): void => {
    const record = toRecord(JSON.parse(line))
    for (const outlet of outlets) {
      if (record.level >= (granular(record.name) ?? outlet.level)) outlet.write(record)
    }
  }
  // When there are no files left to open, it is too late.
  const prepare = () => {
    pino ??= openPino(deliver)
  }
  if (settings.countsFloods) setImmediate(prepare).unref()
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
      own[level]({ facts: presentable(asFacts(facts)) }, presentableText(message))
    }
    const at =
      (level: RecordLevel): Write =>
      (message, facts) => {
        if (outlets.length === 0 || recordLevels[level] < threshold()) return
        const more = (line: string, leftOut: number) => write(level, andMore(line, leftOut))
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
      isLevelEnabled: (level) => outlets.length > 0 && levelNumber(level) >= threshold(),
      reopen(settings) {
        for (const outlet of outlets) outlet.close()
        ;({ outlets, granular, thresholdOf } = open(settings))
        opened++
      },
      close: async () => {
        floods?.flush()
        for (const outlet of outlets) outlet.close()
      },
    }
  }
  return logger(componentOf(settings.program), undefined)
}

/** The component of a program: the module of Salt that most of its lines come from. */
const componentOf = (program: string): string =>
  DAEMONS.has(program) ? program.replace('-', '.') : `salt.cli.${program.replace(/^salt-/, '')}`

const DAEMONS: ReadonlySet<string> = new Set(['salt-master', 'salt-minion'])

function open(settings: LoggerSettings) {
  const outlets = openOutlets(settings)
  const granular = granularLevels(settings.formats?.log_granular_levels ?? {})
  const least = Math.min(...outlets.map(({ level }) => level))
  return { outlets, granular, thresholdOf: (name: string): number => granular(name) ?? least }
}

/** An error alone is a fact, too. */
function asFacts(facts: object = {}): object {
  return facts instanceof Error ? { error: facts } : facts
}

/** pino makes JSON of the records, loaded when there is the first: a short command usually has none. */
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
