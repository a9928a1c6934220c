/** A processor profile of V8 as a flame graph: an SVG without scripts, whose frames have their full name as a tooltip. */

/** As V8's inspector gives it (`Profiler.Profile`): times in µs. */
export interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    /** Both count from 0. */
    readonly lineNumber: number
    readonly columnNumber: number
  }
  readonly children?: readonly number[]
}

export type CallFrame = ProfileNode['callFrame']

/** A function in its callers, with its callees; those of one name are one. */
export interface Frame {
  readonly name: string
  /** Time in it and its callees, µs. */
  total: number
  readonly callees: Map<string, Frame>
}

/** `nameOf` returns the name of a frame, or undefined to leave it out with what it calls. Frames of one name are shown as one. */
export function framesOf(profile: Profile, nameOf: (frame: CallFrame) => string | undefined): Frame {
  const own = new Map<number, number>()
  for (const [place, id] of profile.samples.entries())
    own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas[place] ?? 0))
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const add = (node: ProfileNode, into: Frame): void => {
    into.total += own.get(node.id) ?? 0
    for (const child of node.children ?? []) {
      const callee = nodes.get(child)
      const name = callee && nameOf(callee.callFrame)
      if (!callee || name === undefined) continue
      const frame = into.callees.get(name) ?? { name, total: 0, callees: new Map() }
      into.callees.set(name, frame)
      const before = frame.total
      add(callee, frame)
      into.total += frame.total - before
    }
  }
  const root: Frame = { name: 'all', total: 0, callees: new Map() }
  const [first] = profile.nodes
  if (first) add(first, root)
  return root
}

const WIDTH = 1400
const ROW = 17
const MARGIN = 10
const HEADER = 40
const FONT = 11
/** Narrower frames are left out, in pixels. */
const MIN_WIDTH = 0.4
const CHARACTER_WIDTH = 6.2

export function flameGraph(root: Frame, title: string): string {
  const rows: string[] = []
  let depth = 0
  const scale = (WIDTH - 2 * MARGIN) / Math.max(root.total, 1)
  const draw = (frame: Frame, x: number, level: number): void => {
    const width = frame.total * scale
    if (width < MIN_WIDTH) return
    depth = Math.max(depth, level + 1)
    rows.push(rectangle(frame, { x, y: HEADER + level * ROW, width }, root.total))
    let left = x
    for (const callee of [...frame.callees.values()].sort((a, b) => b.total - a.total)) {
      draw(callee, left, level + 1)
      left += callee.total * scale
    }
  }
  draw(root, MARGIN, 0)
  const height = HEADER + depth * ROW + MARGIN
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="${FONT}">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${MARGIN}" y="24" font-size="15">${escaped(title)}</text>`,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

function rectangle({ name, total }: Frame, at: { x: number; y: number; width: number }, all: number): string {
  const share = ((total / Math.max(all, 1)) * 100).toFixed(1)
  const room = Math.floor((at.width - 4) / CHARACTER_WIDTH)
  const label = room < 3 ? '' : name.length <= room ? name : `${name.slice(0, room - 1)}…`
  return [
    `<g><title>${escaped(name)}: ${(total / 1000).toFixed(1)} ms, ${share} %</title>`,
    `<rect x="${at.x.toFixed(1)}" y="${at.y}" width="${at.width.toFixed(1)}" height="${ROW - 1}" fill="${colorOf(name)}"/>`,
    label && `<text x="${(at.x + 3).toFixed(1)}" y="${at.y + 12}">${escaped(label)}</text>`,
    '</g>',
  ].join('')
}

/** Of this project, of libraries, of Node, of V8 itself. */
function colorOf(name: string): string {
  if (/ (?:core|modules|runners|returners|plugins|bin|test)\//.test(name)) return '#f6b26b'
  if (/ node_modules\//.test(name)) return '#ffe599'
  if (/ node:/.test(name)) return '#a4c2f4'
  return '#d9d9d9'
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
