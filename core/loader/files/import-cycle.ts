/** Explains errors of circular imports: a file uses an import that is not initialised yet. */
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

interface Import {
  /** The importing file, and the line of its import. */
  readonly from: string
  readonly line: number
  readonly to: string
}

/** Files that are searched for a circle, at most. */
const MAX_FILES = 200

/** Return an explanation of an error that a circular import causes; undefined for any other error. */
export async function explainCycle(error: unknown): Promise<string | undefined> {
  if (!(error instanceof ReferenceError)) return undefined
  const name = /'(.+)' before initialization/.exec(error.message)?.[1]
  const place = name === undefined ? undefined : firstPlace(error.stack ?? '')
  const circle = place && (await circleThrough(place.file))
  if (!circle || circle.length === 0) return undefined
  const steps = circle.map(({ from, line, to }) => `${from}:${line} imports ${to}`)
  return `circular import: ${steps.join(', and ')}; so '${name}' is not set yet when ${place.file}:${place.line} uses it. Move the shared code to a third file.`
}

/** Return the place of the first frame of a stack. */
function firstPlace(stack: string): { file: string; line: number } | undefined {
  const [, url, line] = /(file:\/\/\/[^\s?:()]+|\/[^\s?:()]+)(?:\?[^:\s]*)?:(\d+):\d+/.exec(stack) ?? []
  if (url === undefined || line === undefined) return undefined
  return { file: url.startsWith('file:') ? fileURLToPath(url) : url, line: Number(line) }
}

/** Find the shortest chain of imports from a file back to itself. */
async function circleThrough(file: string): Promise<Import[] | undefined> {
  const ways = new Map<string, Import[]>([[file, []]])
  for (const [at, way] of ways) {
    if (ways.size > MAX_FILES) return undefined
    for (const step of await importsOf(at)) {
      if (step.to === file) return [...way, step]
      if (!ways.has(step.to)) ways.set(step.to, [...way, step])
    }
  }
  return undefined
}

/** List the imports of a file by relative paths. */
async function importsOf(from: string): Promise<Import[]> {
  const source = await readFile(from, 'utf8').catch(() => '')
  const found = [...source.matchAll(/^\s*(?:import|export)\b[^'"`;]*?['"](\.[^'"]+)['"]/gm)]
  const imports = await Promise.all(
    found.map(async (match) => {
      const to = await fileOf(path.resolve(path.dirname(from), match[1] as string))
      const line = source.slice(0, match.index + match[0].length).split('\n').length
      return to === undefined ? [] : [{ from, line, to }]
    }),
  )
  return imports.flat()
}

/** Find the file of an import; TypeScript may be imported by the name of its compiled file. */
export async function fileOf(named: string): Promise<string | undefined> {
  const compiled = named.replace(/\.([cm]?)js$/, '.$1ts')
  for (const candidate of [named, compiled, `${named}.ts`, `${named}.js`, `${named}/index.ts`])
    if ((await stat(candidate).catch(() => undefined))?.isFile()) return candidate
  return undefined
}
