/** docs/speed.md: all reports of test/bench on one page. */
import { readFileSync } from 'node:fs'

const REPORTS = [
  'README',
  'limits',
  'client',
  'api',
  'syndic',
  'nats',
  'job-cache',
  'targets',
  'loader',
  'stores',
  'outages',
] as const

export function speedPage(): string {
  const sections = REPORTS.map((name) => {
    const report = readFileSync(new URL(`../../bench/${name}.md`, import.meta.url), 'utf8')
    return report.replace(/^#/gm, '##').trimEnd()
  })
  return `# Speed

Written by \`npm run docs\` from the reports that \`npm run bench\` and its like write to \`test/bench\`. Compare ratios: the
figures depend on the machine and its load.

${sections.join('\n\n')}
`
}
