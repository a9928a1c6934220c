/** Findings as text, and as JSON. docs/check.md describes both. */
import path from 'node:path'
import { counted } from '../../../base/sentence.ts'
import type { Finding, Severity } from '../../../loader/check/rules.ts'
import type { CheckedFolder } from './check-folder.ts'
import { sarif } from './sarif.ts'

/** Reports by the value of `--format`. */
export const reports = {
  text: ({ findings }: CheckedFolder): string => findings.map(line).join('\n'),
  json: ({ findings }: CheckedFolder): string => JSON.stringify(findings.map(withShownPath), undefined, 2),
  sarif: ({ findings }: CheckedFolder): string =>
    JSON.stringify(sarif(findings.map(withShownPath)), undefined, 2),
} as const

/** Return a path as it is shown: from the current directory, unless it is outside of it. */
function shownPath(file: string): string {
  const shown = path.relative('.', file)
  return shown.startsWith('..') ? file : shown || '.'
}

const withShownPath = ({ rule, severity, file, line, column, message }: Finding): Finding => ({
  rule,
  severity,
  file: shownPath(file),
  line,
  column,
  message,
})

/** A finding is a line, whatever characters names in the files have. */
const line = ({ rule, severity, file, line, column, message }: Finding): string =>
  `${shownPath(file)}:${line}:${column}: ${severity}: ${message} [${rule}]`.replaceAll(/\p{Cc}+/gu, ' ')

/** Return how many findings there are: `2 errors and 1 note in 5 files`. */
export function summary({ findings, files }: CheckedFolder): string {
  const counts = (['error', 'warning', 'note'] as const)
    .map((severity) => [count(findings, severity), severity] as const)
    .filter(([number]) => number > 0)
    .map(([number, severity]) => counted(number, severity))
  const told = counts.length === 0 ? 'Nothing found' : counts.join(', ').replace(/, ([^,]*)$/, ' and $1')
  return `${told} in ${counted(files, 'file')}.`
}

export const count = (findings: readonly Finding[], severity: Severity): number =>
  findings.filter((one) => one.severity === severity).length
