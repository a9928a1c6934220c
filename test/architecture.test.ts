import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Rooms by floor: imports go down only. Rooms of one floor in `apart` never import each other. */
const floors: readonly { readonly rooms: readonly string[]; readonly apart?: boolean }[] = [
  { rooms: ['base'] },
  { rooms: ['dialect'] },
  { rooms: ['codec'] },
  { rooms: ['author'] },
  { rooms: ['transport', 'wire', 'crypto', 'config', 'log', 'metrics', 'store', 'tracing', 'process'] },
  { rooms: ['events', 'loader'] },
  { rooms: ['channel', 'cache', 'keys', 'targets', 'fileserver', 'outbox', 'engines', 'auth'] },
  { rooms: ['jobs', 'runs'] },
  { rooms: ['master', 'minion', 'client'], apart: true },
  { rooms: ['api', 'syndic'], apart: true },
  { rooms: ['testing'] },
  { rooms: ['cli'] },
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

test('every room has a floor, and a README that says what it does', () => {
  const rooms = readdirSync(join(root, 'core')).sort()
  expect(floors.flatMap((floor) => floor.rooms).sort()).toEqual(rooms)
  const silent = rooms.filter((room) => !existsSync(join(root, 'core', room, 'README.md')))
  expect(silent, 'rooms without README.md').toEqual([])
})

test('no folder of core has more than 26 files', () => {
  const counts = new Map<string, number>()
  for (const file of sources('core')) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 26)).toEqual([])
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

/** Helpers that extensions of one kind take from those of another. */
const sharedHelpers = new Set([
  'runners/config.ts imports modules/_config/mask.ts',
  'runners/config.ts imports modules/_values/traverse.ts',
  'runners/http.ts imports modules/_http/params.ts',
  'runners/http.ts imports modules/_http/query.ts',
  'runners/http.ts imports modules/_http/request.ts',
  'runners/network.ts imports modules/_host/reach.ts',
  'runners/saltutil.ts imports modules/_saltutil/extensions.ts',
  'runners/saltutil.ts imports modules/_saltutil/sync.ts',
  'runners/test.ts imports modules/_config/mask.ts',
  'plugins/wheel/config.ts imports modules/_config/mask.ts',
  'modules/_slsutil/yaml.ts imports plugins/outputters/_yaml-writer.ts',
  'plugins/matchers/_match-path.ts imports plugins/outputters/_python.ts',
  'plugins/matchers/data.ts imports plugins/outputters/_python.ts',
])

test('extensions of one kind share helpers with another kind only as the table allows', () => {
  const kindOf = (file: string) => /^(plugins\/\w+|\w+)\//.exec(file)?.[1]
  const arrows = extensionFolders
    .flatMap(sources)
    .flatMap(importsOf)
    .filter(({ from, to }) => extensionFolders.includes(to.split('/')[0]!) && kindOf(from) !== kindOf(to))
    .map(({ from, to }) => `${from} imports ${to}`)
  expect(new Set(arrows)).toEqual(sharedHelpers)
})

/** Processes that a file starts by a path: an import in all but syntax. `from` is the file that names the path. */
function processesOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/'([\w./-]*-process)'/g)]
    .map(([, path]) => join('core', path!))
    .filter((path) => existsSync(join(root, `${path}.ts`)))
    .map((to) => ({ from: file, to: `${to}.ts`, erased: false }))
}

/** Processes of a higher floor, each started by whoever has to outlive or supervise it. */
const startedFromBelow = new Set([
  // A worker and a client start runners the same way; the process itself is a client of the master.
  'core/runs/background.ts starts core/client/functions/background-process.ts',
  // `api: {…}` in the master's configuration: the supervisor watches over salt-api as over its other children.
  'core/master/supervision/children.ts starts core/api/api-process.ts',
  'core/master/supervision/supervisor.ts starts core/api/api-process.ts',
])

test('processes are started from rooms above or from their own room, except those in the table', () => {
  const started = sources('core').flatMap(processesOf)
  expect(started.length).toBeGreaterThan(5)
  const upward = started.filter(complaint).map(({ from, to }) => `${from} starts ${to}`)
  expect(new Set(upward)).toEqual(startedFromBelow)
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

test('no test depends on the speed of the machine, or is skipped without a reason', () => {
  const found = sources('test')
    .filter((file) => !/^test\/(bench|harness)\/|^test\/architecture/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return habits.flatMap(([habit, instead]) => (habit.test(text) ? [`${file} ${instead}.`] : []))
    })
  expect(found).toEqual([])
})
