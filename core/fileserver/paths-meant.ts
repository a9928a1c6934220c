import { type SafePath, safePath } from '../base/safe-path.ts'

interface Meant {
  readonly path: SafePath
  readonly saltenv: string
}

/**
 * What a peer may mean by a path, most likely first: a file of just that name; `|name`, which keeps what follows from
 * being read as anything else; `name?saltenv=dev`. Nothing for what is no safe path.
 */
export function pathsMeant(text: unknown, saltenv: unknown): Meant[] {
  if (typeof text !== 'string' || typeof saltenv !== 'string') return []
  const question = text.indexOf('?')
  const forms = [{ text, saltenv }]
  if (text.startsWith('|')) forms.push({ text: text.replace(/^\|+/, ''), saltenv })
  else if (question >= 0)
    forms.push({ text: text.slice(0, question), saltenv: queried(text.slice(question + 1)) ?? saltenv })
  return forms.flatMap((form) => {
    const path = safePath(form.text)
    return path === undefined ? [] : [{ path, saltenv: form.saltenv }]
  })
}

function queried(query: string): string | undefined {
  const option = query.split('&').find((part) => part.startsWith('saltenv='))
  return option?.slice('saltenv='.length)
}
