import { type Finding, finding } from './rules.ts'
import type { SourceText } from './source-text.ts'

const EXIT = /(?<![\w$.])process\s*\.\s*(?:exit|abort|reallyExit)\s*\(/g

export function exitFindings(source: SourceText): Finding[] {
  return source
    .matches(EXIT)
    .map(({ index }) =>
      finding(
        'process-exit',
        source.place(index),
        'This ends the process of the job, whose return is lost; throw an error instead, or set context.retcode.',
      ),
    )
}
