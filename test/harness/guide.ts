/** A guide in Markdown whose examples can be carried out. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * One thing a reader does: write a file (a block whose language is followed by a path), or type commands (`sh`) and see what
 * the `text` block after them shows.
 */
export type Step =
  | { readonly file: string; readonly text: string }
  | { readonly commands: string; readonly shown: string | undefined; readonly code: number }

export function stepsOf(guide: URL): Step[] {
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, language, info = '', text = ''], index): Step[] => {
    if (language === 'sh') {
      const [, next, details = '', shown] = blocks[index + 1] ?? []
      const isShown = next === 'text'
      const code = isShown ? Number(/^exit (\d+)$/.exec(details)?.[1] ?? 0) : 0
      return [{ commands: text, shown: isShown ? shown : undefined, code }]
    }
    return info === '' || language === 'text' ? [] : [{ file: info, text }]
  })
}

export async function writeStep(
  folder: string,
  { file, text }: Extract<Step, { file: string }>,
): Promise<void> {
  const path = join(folder, file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
