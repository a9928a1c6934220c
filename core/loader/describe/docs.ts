import { readFile } from 'node:fs/promises'
import { listExports } from './read-source.ts'

/** Documentation of a file: the comment at its beginning, and those above its exports, by exported name. */
export interface FileDocs {
  readonly module: string | undefined
  readonly functions: ReadonlyMap<string, string>
}

/** Read the documentation from the source, or from the compiled file, which keeps its comments. Nothing is imported. */
export async function readDocs(path: string): Promise<FileDocs> {
  return docsOf(await readFile(path, 'utf8').catch(() => ''))
}

export function docsOf(source: string): FileDocs {
  const functions = new Map<string, string>()
  for (const { name, local, at } of listExports(source) ?? []) {
    const comment = commentBefore(source, at >= 0 ? at : declarationOf(source, local))
    if (comment !== undefined) functions.set(name, render(comment))
  }
  const first = /^(?:#!.*\n)?\s*\/\*\*((?:[^*]|\*(?!\/))*)\*\/(?=\s*\n\s*(?:import\b|\n|\/\/|\/\*\*))/.exec(
    source,
  )?.[1]
  return { module: first === undefined ? undefined : render(first), functions }
}

/** Return the position where a name is declared at the top level; -1 if it is not. */
export function declarationOf(source: string, local: string): number {
  const name = local.replaceAll('$', '\\$')
  return source.search(
    new RegExp(`^(?:export\\s+)?(?:async\\s+)?(?:function\\s*\\*?|const|let|var)\\s+${name}\\b`, 'm'),
  )
}

/** Return the text of the block comment directly above a position. */
function commentBefore(source: string, at: number): string | undefined {
  const before = at < 0 ? '' : source.slice(0, at).trimEnd()
  if (!before.endsWith('*/')) return undefined
  const start = before.lastIndexOf('/**')
  return start < 0 ? undefined : before.slice(start + 3, -2)
}

/** Return a comment as plain text: without stars, and with `@example` lines under Salt's heading `CLI Example:`. */
function render(comment: string): string {
  const lines = dedent(comment.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trimEnd()))
  const prose: string[] = []
  const examples: string[] = []
  let inExample = false
  for (const line of lines) {
    const example = /^\s*@example\s*(.*)/.exec(line)
    if (example) inExample = true
    else if (/^\s*@/.test(line)) inExample = false
    const text = example ? (example[1] as string) : line
    if (!inExample) prose.push(text.replaceAll(/\{@link\s+([^}]+)\}/g, '$1'))
    else if (text.trim() !== '') examples.push(`    ${text.trim()}`)
  }
  const blocks = [
    prose.join('\n').trim(),
    examples.length > 0 ? `CLI Example:\n\n${examples.join('\n')}` : '',
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

/** Remove the indentation that the lines after the first share. */
function dedent([first = '', ...others]: string[]): string[] {
  const indents = others.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const shared = Math.min(...indents, 80)
  return [first.trimStart(), ...others.map((line) => line.slice(shared))]
}
