import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenTarget, Target } from './target.ts'

const folder = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The names of all targets. */
export const targetNames: readonly string[] = readdirSync(folder('targets'))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
  .map((file) => file.slice(0, -3))

export async function openTarget(name: string): Promise<Target> {
  const { default: open } = (await import(`./targets/${name}.ts`)) as { default: OpenTarget }
  return open()
}

/** Read the kept inputs of a target. */
export function readCorpus(name: string): Buffer[] {
  const of = folder(`corpus/${name}`)
  if (!existsSync(of)) return []
  const files = readdirSync(of, { withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((file) => readFileSync(join(of, file.name)))
}

/** Keep an input, and return the path of its file. */
export function keepInput(name: string, input: Buffer): string {
  const of = folder(`corpus/${name}`)
  mkdirSync(of, { recursive: true })
  const path = join(of, createHash('sha256').update(input).digest('hex').slice(0, 12))
  writeFileSync(path, input)
  return path
}
