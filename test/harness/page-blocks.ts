import { readFileSync } from 'node:fs'

/** A fenced block of a page. */
export interface Block {
  readonly language: string
  readonly text: string
  /** The heading it stands under. */
  readonly section: string
}

/** Return every fenced block of a page, which is a path in the project, in order. */
export function pageBlocks(page: string): Block[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  return text.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'))
    return [...part.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
      language,
      text: block,
      section,
    }))
  })
}

/** Return the only block of a language in a section of a page whose heading begins like this. */
export function pageBlock(page: string, section: string, language: string): string {
  const found = pageBlocks(page).filter(
    (block) => block.language === language && block.section.startsWith(section),
  )
  if (found.length === 1) return found[0]!.text
  throw new Error(`${page} has ${found.length} blocks of ${language} under "${section}".`)
}
