import { type SafePath, safePath } from '../base/files/safe-path.ts'

interface Candidate {
  readonly path: SafePath
  readonly saltenv: string
}

/**
 * Return the possible meanings of a path from a peer, most likely first: a file with exactly that name; `|name`, where `|` marks
 * the rest as a literal name; `name?saltenv=dev`. Unsafe paths are left out.
 */
export function candidatePaths(text: unknown, saltenv: unknown): Candidate[] {
  if (typeof text !== 'string' || typeof saltenv !== 'string') return []
  const question = text.indexOf('?')
  const forms = [{ text, saltenv }]
  if (text.startsWith('|')) forms.push({ text: text.replace(/^\|+/, ''), saltenv })
  else if (question >= 0)
    forms.push({ text: text.slice(0, question), saltenv: environmentOf(text.slice(question + 1)) ?? saltenv })
  return forms.flatMap((form) => {
    const path = safePath(form.text)
    return path === undefined ? [] : [{ path, saltenv: form.saltenv }]
  })
}

function environmentOf(query: string): string | undefined {
  const option = query.split('&').find((part) => part.startsWith('saltenv='))
  return option?.slice('saltenv='.length)
}
