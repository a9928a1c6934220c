/** The figures of the project's README: some rows of the bench report. */
const BEGIN = '<!-- figures: written by npm run bench -- --write -->\n'
const END = '<!-- end of figures -->\n'

/** Beginnings of the rows of the report that the README shows. */
const SHOWN = [
  'durable returns per second',
  '`test.ping` to all, ms',
  'private memory 20 s later, MB',
  'whole process `salt node test.ping`, ms',
]
const AIM = 'aim'

/** Return the README with the figures of a report (test/bench/README.md) in the place of those it has. */
export function withFigures(readme: string, report: string): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('The README has no lines between which its figures stand.')
  return `${readme.slice(0, begin)}${BEGIN}\n${figuresOf(report)}\n${readme.slice(end)}`
}

/** Return a README without the figures that `withFigures` writes. */
export function withoutFigures(readme: string): string {
  return readme.slice(0, readme.indexOf(BEGIN)) + readme.slice(readme.indexOf(END) + END.length)
}

function figuresOf(report: string): string {
  const [conditions = ''] = /^\d+ simulated minions[\s\S]*?\n\n/m.exec(report) ?? []
  const table = report
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(2, -2)
        .split('|')
        .map((cell) => cell.trim()),
    )
  const [head = [], rule = []] = table
  const rows = SHOWN.map((shown) => table.find(([label]) => label === shown))
  const missing = SHOWN.filter((_, at) => rows[at] === undefined)
  if (missing.length > 0) throw new Error(`The report has no row "${missing.join('", "')}".`)
  const lines = [head, rule, ...(rows as string[][])].map((cells) =>
    cells.filter((_, column) => head[column] !== AIM),
  )
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.filter((row) => row !== lines[1]).map((row) => row[column]!.length)),
  )
  const written = lines.map(
    (cells) =>
      `| ${cells.map((cell, at) => (cells === lines[1] ? '-'.repeat(widths[at]!) : cell.padEnd(widths[at]!))).join(' | ')} |`,
  )
  return `${conditions}${written.join('\n')}\n`
}
