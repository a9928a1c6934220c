import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Rooms by floor: imports go down only. Rooms of one floor in `apart` never import each other. */
const floors: readonly { readonly rooms: readonly string[]; readonly apart?: boolean }[] = [
  { rooms: ['base'] },
  { rooms: ['codec'] },
  { rooms: ['author'] },
  { rooms: ['transport', 'wire', 'crypto', 'config', 'log', 'metrics', 'store', 'tracing'] },
  { rooms: ['events', 'loader'] },
  { rooms: ['channel', 'jobs', 'keys', 'targets', 'fileserver', 'returners', 'engines', 'auth'] },
  { rooms: ['master', 'minion', 'client'], apart: true },
  { rooms: ['api'] },
  { rooms: ['cli', 'testing'], apart: true },
]
const extensionFolders = ['modules', 'runners', 'returners', 'plugins']

interface Import {
  readonly from: string
  readonly to: string
  /** `import type`: gone after compilation. */
  readonly erased: boolean
}

function sources(folder: string): string[] {
  const found: string[] = []
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...sources(path))
    else if (entry.name.endsWith('.ts')) found.push(path)
  }
  return found
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(?<type>type\s+)?(?:[^'"\n;]*?\sfrom\s+)?['"](?<path>[^'"]+)['"]|import\(\s*['"](?<late>[^'"]+)['"]\s*\)/g

/** Multi-line imports are folded first; comments are dropped. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '')
    .replace(/\{[^{}]*\}(?=\s*from\s)/g, (names) => names.replace(/\n/g, ' '))
  return [...text.matchAll(statement)].map((match) => {
    const { type, path, late } = match.groups!
    const target = (path ?? late)!
    const to = target.startsWith('.') ? relative(root, resolve(root, dirname(file), target)) : target
    return { from: file, to, erased: type !== undefined }
  })
}

const roomOf = (path: string): string | undefined => /^core\/([^/]+)\//.exec(path)?.[1]
const floorOf = (room: string): number => floors.findIndex(({ rooms }) => rooms.includes(room))

function complaint({ from, to }: Import): string | undefined {
  const room = roomOf(from)
  const target = roomOf(to)
  if (!room || !target || room === target) return undefined
  if (floorOf(target) < 0) return `${from} imports ${to}: the room "${target}" is on no floor.`
  if (floorOf(target) > floorOf(room))
    return `${from} imports ${to}: ${target} is on a higher floor than ${room}.`
  const floor = floors[floorOf(room)]
  if (floorOf(target) === floorOf(room) && floor?.apart)
    return `${from} imports ${to}: ${room} and ${target} never import each other.`
  return undefined
}

const core = sources('core').flatMap(importsOf)

test('imports in core go down only', () => {
  expect(core.map(complaint).filter(Boolean)).toEqual([])
})

test('every room stands on a floor and says in its README what it is', () => {
  const rooms = readdirSync(join(root, 'core')).sort()
  expect(floors.flatMap((floor) => floor.rooms).sort()).toEqual(rooms)
  const silent = rooms.filter((room) => !existsSync(join(root, 'core', room, 'README.md')))
  expect(silent, 'rooms without README.md').toEqual([])
})

test('core names no extension: the loader finds them by folder', () => {
  const arrows = core.filter(({ to }) => extensionFolders.some((folder) => to.startsWith(`${folder}/`)))
  expect(arrows).toEqual([])
})

test('extensions import only the author API, Node, their own libraries and files beside them', () => {
  const arrows = extensionFolders
    .flatMap(sources)
    .flatMap(importsOf)
    .filter(({ to }) => to.startsWith('core/'))
    .map(({ from, to }) => `${from} imports ${to}`)
  expect(arrows).toEqual([])
})

test('no files import each other in a circle, types aside', () => {
  const graph = new Map<string, string[]>()
  for (const { from, to } of core.filter(({ erased }) => !erased))
    graph.set(from, [...(graph.get(from) ?? []), to])
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const to of graph.get(file) ?? []) if (to.startsWith('core/')) visit(to, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  expect(circles).toEqual([])
})

/** What makes a test pass on one machine and fail on another, or be left out without a word, and what to do instead. */
const habits: readonly [habit: RegExp, instead: string][] = [
  [
    /\bvi\.wait(For|Until)\(|\bexpect\s*\.poll\(/,
    'gives up after a second: use until or eventually of test/harness',
  ],
  [/(\.now\(\) - [^\n]*|\bms\))\.toBeLess/, 'is red on a slow machine: await what has to happen'],
  [/\b(describe|it|test|context)\.(skip|skipIf|runIf|todo)\b/, 'leaves tests out: use needs of test/harness'],
]

test('no test bets on the speed of the machine, or is left out without a reason', () => {
  const found = sources('test')
    .filter((file) => !/^test\/(bench|harness)\/|^test\/architecture/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return habits.flatMap(([habit, instead]) => (habit.test(text) ? [`${file} ${instead}.`] : []))
    })
  expect(found).toEqual([])
})
