import { compileFormat, type LogRecord } from './format.ts'
import { levelNumber, recordLevels } from './levels.ts'
import { fileSink, type Sink, stderrSink, streamSink } from './sink.ts'

export interface LoggerSettings {
  /** The name of the program, `salt-master`. */
  readonly program: string
  /** Default stream: standard error. */
  readonly console?: { readonly level: string; readonly stream?: { write(text: string): unknown } }
  readonly file?: { readonly path: string; readonly level: string }
  /** Whether warnings and errors that come again and again are counted, and told once a minute. */
  readonly countsFloods?: boolean
  /** Salt's options of the same names; a configuration fits. */
  readonly formats?: LogFormats
}

export interface LogFormats {
  readonly log_fmt_console?: string
  readonly log_fmt_logfile?: string
  readonly log_datefmt?: string
  readonly log_datefmt_console?: string | undefined
  readonly log_datefmt_logfile?: string
  /** Level by component; takes the place of the levels of console and file there. */
  readonly log_granular_levels?: Readonly<Record<string, unknown>>
}

/** A place records go to, from a level up, in a format. */
export interface Outlet {
  readonly level: number
  write(record: LogRecord): void
  close(): void
}

const LINE = '[%(levelname)-8s] %(message)s'
const FILE_LINE =
  '%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s'

export function openOutlets({ console, file, formats = {} }: LoggerSettings): Outlet[] {
  const outlets: Outlet[] = []
  if (console) {
    const sink = console.stream ? streamSink(console.stream) : stderrSink()
    const datefmt = formats.log_datefmt_console ?? formats.log_datefmt ?? '%H:%M:%S'
    outlets.push(outlet(sink, console.level, formats.log_fmt_console ?? LINE, datefmt))
  }
  if (file?.path) {
    const terminal = outlets[0] ?? outlet(stderrSink(), 'warning', LINE, '%H:%M:%S')
    const sink = fileSink(file.path, (problem) => warn(terminal, problem))
    const datefmt = formats.log_datefmt_logfile ?? '%Y-%m-%d %H:%M:%S'
    outlets.push(outlet(sink, file.level, formats.log_fmt_logfile ?? FILE_LINE, datefmt))
  }
  return outlets
}

function outlet(sink: Sink, level: string, format: string, datefmt: string): Outlet {
  const render = compileFormat(format, datefmt)
  return {
    level: levelNumber(level),
    write: (record) => sink.write(render(record)),
    close: () => sink.close(),
  }
}

function warn(terminal: Outlet, message: string): void {
  const level = recordLevels.warning
  if (level < terminal.level) return
  terminal.write({ time: new Date(), level, levelName: 'WARNING', name: 'salt.log', message, facts: {} })
}
