import { readFileSync } from 'node:fs'

/** A fenced block of the project's README. */
export interface Block {
  readonly language: string
  readonly text: string
  /** The heading it stands under. */
  readonly section: string
}

/** Every fenced block of the README, in order. */
export function readmeBlocks(): Block[] {
  const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  return text.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'))
    return [...part.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
      language,
      text: block,
      section,
    }))
  })
}

/** The only block of a language in a section whose heading begins like this. */
export function readmeBlock(section: string, language: string): string {
  const found = readmeBlocks().filter(
    (block) => block.language === language && block.section.startsWith(section),
  )
  if (found.length === 1) return found[0]!.text
  throw new Error(`The README has ${found.length} blocks of ${language} under "${section}".`)
}
