import { compileFormat, type LogRecord } from './format.ts'
import { levelNumber, recordLevels } from './levels.ts'
import { fileSink, type Sink, stderrSink, streamSink } from './sink.ts'

export interface LoggerSettings {
  /** Name of the program, such as `salt-master`. */
  readonly program: string
  /** Level and stream of the terminal; standard error by default. */
  readonly console?: { readonly level: string; readonly stream?: { write(text: string): unknown } }
  readonly file?: { readonly path: string; readonly level: string }
  /** Whether repeated warnings and errors are counted and summarized once a minute. */
  readonly limitsFloods?: boolean
  /** Salt's options of the same names, as in a configuration. */
  readonly formats?: LogFormats
}

export interface LogFormats {
  readonly log_fmt_console?: string
  readonly log_fmt_logfile?: string
  readonly log_datefmt?: string
  readonly log_datefmt_console?: string | undefined
  readonly log_datefmt_logfile?: string
  /** Levels by component. They override the levels of console and file. */
  readonly log_granular_levels?: Readonly<Record<string, unknown>>
}

/** A destination of records, with a minimum level and a format. */
export interface LogHandler {
  readonly level: number
  write(record: LogRecord): void
  close(): void
}

const LINE = '[%(levelname)-8s] %(message)s'
const FILE_LINE =
  '%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s'

export function openHandlers({ console, file, formats = {} }: LoggerSettings): LogHandler[] {
  const handlers: LogHandler[] = []
  if (console) {
    const sink = console.stream ? streamSink(console.stream) : stderrSink()
    const datefmt = formats.log_datefmt_console ?? formats.log_datefmt ?? '%H:%M:%S'
    handlers.push(createHandler(sink, console.level, formats.log_fmt_console ?? LINE, datefmt))
  }
  if (file?.path) {
    const terminal = handlers[0] ?? createHandler(stderrSink(), 'warning', LINE, '%H:%M:%S')
    const sink = fileSink(file.path, (problem) => warn(terminal, problem))
    const datefmt = formats.log_datefmt_logfile ?? '%Y-%m-%d %H:%M:%S'
    handlers.push(createHandler(sink, file.level, formats.log_fmt_logfile ?? FILE_LINE, datefmt))
  }
  return handlers
}

function createHandler(sink: Sink, level: string, format: string, datefmt: string): LogHandler {
  const render = compileFormat(format, datefmt)
  return {
    level: levelNumber(level),
    write: (record) => sink.write(render(record)),
    close: () => sink.close(),
  }
}

function warn(terminal: LogHandler, message: string): void {
  const level = recordLevels.warning
  if (level < terminal.level) return
  terminal.write({ time: new Date(), level, levelName: 'WARNING', name: 'salt.log', message, facts: {} })
}
