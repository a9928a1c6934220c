import type { Finding } from './rules.ts'

/**
 * Return findings for logs and returns: `/srv/salt/modules/shop.ts:3: sentence`. Notes are left out, and what hinders a file from being
 * loaded, which is told as such.
 */
export const warningsIn = (findings: readonly Finding[]): string[] =>
  findings
    .filter(({ rule, severity }) => severity !== 'note' && !rule.startsWith('import-'))
    .map(({ file, line, message }) => `${file}:${line}: ${message}`)
