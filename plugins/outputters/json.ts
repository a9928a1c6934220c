/** JSON. `--out-indent`: spaces per level, negative for one line, `pretty` for sorted keys. */
import { outputter } from 'salt-ts'
import { floatText, reprOf, strOf } from './_python.ts'
import { entriesOf, kindOf, listOf, sortedEntriesOf } from './_values.ts'

interface Layout {
  /** Spaces per level; undefined: everything on one line. */
  readonly step: number | undefined
  readonly sorted: boolean
}

export default outputter({
  render(value, { indent }) {
    const pretty = (indent as unknown) === 'pretty'
    const step = indent === undefined || pretty ? 4 : indent === null || indent < 0 ? undefined : indent
    return write(value, { step, sorted: pretty }, '\n')
  },
})

/** `margin` is the line break and indentation of the line the value is on. */
function write(value: unknown, layout: Layout, margin: string): string {
  const kind = kindOf(value)
  if (kind === 'null') return 'null'
  if (kind === 'bool' || kind === 'int') return String(value)
  if (kind === 'float') return Number.isFinite(Number(value)) ? floatText(Number(value)) : 'null'
  if (kind === 'list') {
    return enclose(
      '[',
      listOf(value).map((member) => write(member, layout, deeper(margin, layout))),
      ']',
      layout,
      margin,
    )
  }
  if (kind === 'text') return JSON.stringify(value)
  if (kind === 'date') return JSON.stringify(String(value))
  if (kind !== 'map') return JSON.stringify(reprOf(value))
  const entries = (layout.sorted ? sortedEntriesOf : entriesOf)(value)
  const members = entries.map(
    ([key, member]) => `${JSON.stringify(keyText(key))}: ${write(member, layout, deeper(margin, layout))}`,
  )
  return enclose('{', members, '}', layout, margin)
}

function enclose(open: string, members: string[], close: string, layout: Layout, margin: string): string {
  if (members.length === 0) return open + close
  if (layout.step === undefined) return open + members.join(', ') + close
  const inner = deeper(margin, layout)
  return open + inner + members.join(`,${inner}`) + margin + close
}

const deeper = (margin: string, { step = 0 }: Layout): string => margin + ' '.repeat(step)

function keyText(key: unknown): string {
  if (key === null || typeof key === 'boolean') return String(key)
  return strOf(key)
}
