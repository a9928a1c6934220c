/** Draws small charts, one below and beside the other, as SVG. */

export type Point = readonly [x: number, y: number]

export interface Line {
  /** Lines of one name have one colour; those whose name is not in the legend are grey. */
  readonly name: string
  readonly points: readonly Point[]
}

interface Chart {
  /** With the unit. */
  readonly title: string
  readonly lines: readonly Line[]
  /** Values below 1 are drawn as 1. */
  readonly isLogarithmic?: boolean
}

export interface Sheet {
  /** What screen readers say. */
  readonly title: string
  readonly charts: readonly Chart[]
  readonly legend: readonly string[]
  /** What grey lines are. */
  readonly others: string
  readonly xTitle: string
  /** Moments when something happened. */
  readonly marks: readonly { readonly x: number; readonly text: string }[]
}

const COLUMNS = 2
const PANEL = { width: 470, height: 230, left: 56, right: 14, top: 30, bottom: 40 } as const
const PLOT = {
  width: PANEL.width - PANEL.left - PANEL.right,
  height: PANEL.height - PANEL.top - PANEL.bottom,
} as const
const LEGEND = { columns: 4, height: 18, margin: 16 } as const
const COLOURS = [
  '#1f77b4',
  '#ff7f0e',
  '#2ca02c',
  '#d62728',
  '#9467bd',
  '#17becf',
  '#e377c2',
  '#bcbd22',
] as const
const GREY = '#bbb'
/** Of a line: more cannot be seen, and would be a large file. */
const MOST_POINTS = 150

export function sheetSvg({ title, charts, legend, others, xTitle, marks }: Sheet): string {
  const width = COLUMNS * PANEL.width
  const top = Math.ceil(charts.length / COLUMNS) * PANEL.height
  const names = [...legend, others]
  const height = top + Math.ceil(names.length / LEGEND.columns) * LEGEND.height + LEGEND.margin
  const colourOf = (name: string) => COLOURS[legend.indexOf(name)] ?? GREY
  const xMost = Math.max(
    ...charts.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([x]) => x))),
  )
  const panels = charts.map((chart, at) => {
    const place = `translate(${(at % COLUMNS) * PANEL.width} ${Math.floor(at / COLUMNS) * PANEL.height})`
    return [`<g transform="${place}">`, ...panel(chart, { xMost, xTitle, marks, colourOf }), '</g>']
  })
  const keys = names.flatMap((name, at) => {
    const x = PANEL.left + ((at % LEGEND.columns) * (width - PANEL.left)) / LEGEND.columns
    const y = top + LEGEND.margin + Math.floor(at / LEGEND.columns) * LEGEND.height
    return [
      `<path d="M${x} ${y - 4}h18" stroke="${colourOf(name)}" stroke-width="3"/>`,
      label(x + 24, y, name, 'start'),
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#333">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...panels.flat(),
    ...keys,
    '</svg>',
    '',
  ].join('\n')
}

interface Around extends Pick<Sheet, 'xTitle' | 'marks'> {
  readonly xMost: number
  colourOf(name: string): string
}

function panel({ title, lines, isLogarithmic }: Chart, { xMost, xTitle, marks, colourOf }: Around): string[] {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y))
  const { ticks, share } = (isLogarithmic ? logarithmic : linear)(Math.max(1, ...values))
  const x = (value: number) => round(PANEL.left + (value / xMost) * PLOT.width)
  const y = (value: number) => round(PANEL.top + (1 - share(value)) * PLOT.height)
  const bottom = PANEL.top + PLOT.height
  const right = PANEL.left + PLOT.width
  const path = ({ points }: Line) =>
    `M${thinned(points, xMost)
      .map(([px, py]) => `${x(px)} ${y(py)}`)
      .join('L')}`
  const ranked = lines.toSorted(
    (a, b) => Number(colourOf(b.name) === GREY) - Number(colourOf(a.name) === GREY),
  )
  return [
    label(PANEL.left, PANEL.top - 12, title, 'start', ' font-weight="bold"'),
    ...ticks.flatMap((tick) => [
      `<path d="M${PANEL.left} ${y(tick)}H${right}" stroke="#e5e5e5"/>`,
      label(PANEL.left - 6, y(tick) + 4, String(tick), 'end'),
    ]),
    ...linear(xMost)
      .ticks.filter((tick) => tick <= xMost)
      .map((tick) => label(x(tick), bottom + 15, String(tick), 'middle')),
    label((PANEL.left + right) / 2, bottom + 30, xTitle, 'middle'),
    ...marks.flatMap((mark) => [
      `<path d="M${x(mark.x)} ${PANEL.top}V${bottom}" stroke="#999" stroke-dasharray="3 3"/>`,
      label(x(mark.x) + 3, PANEL.top + 9, mark.text, 'start', ' font-size="9" fill="#777"'),
    ]),
    ...ranked.map(
      (line) => `<path d="${path(line)}" fill="none" stroke="${colourOf(line.name)}" stroke-width="1.3"/>`,
    ),
    `<path d="M${PANEL.left} ${PANEL.top}V${bottom}H${right}" fill="none" stroke="#666"/>`,
  ]
}

interface Scale {
  readonly ticks: readonly number[]
  /** How high a value is, from 0 to 1. */
  share(value: number): number
}

/** From 0 to a round number. */
function linear(most: number): Scale {
  const rough = most / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((each) => each * power >= rough) ?? 10) * power
  const count = Math.ceil(most / step)
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(6)))
  return { ticks, share: (value) => value / (count * step) }
}

/** From 1 to a power of ten. */
function logarithmic(most: number): Scale {
  const powers = Math.max(1, Math.ceil(Math.log10(most)))
  const ticks = Array.from({ length: powers + 1 }, (_, at) => 10 ** at)
  return { ticks, share: (value) => Math.log10(Math.max(1, value)) / powers }
}

/** The highest point of each of `MOST_POINTS` stretches of the axis. */
function thinned(points: readonly Point[], xMost: number): Point[] {
  const highest = new Map<number, Point>()
  for (const point of points) {
    const stretch = Math.floor((point[0] / xMost) * MOST_POINTS)
    if (point[1] >= (highest.get(stretch)?.[1] ?? 0)) highest.set(stretch, point)
  }
  return [...highest.values()]
}

const round = (value: number): number => Math.round(value * 10) / 10

const label = (x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end', more = '') =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${more}>${escaped(text)}</text>`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
