/** Which files of a folder Docker does not need for a build: those that `.dockerignore` names. */

export interface Ignored {
  /** Whether a path, relative to the folder, stays out. The last pattern that matches it, or a folder above it, decides. */
  has(path: string): boolean
  /** Whether something below a folder that stays out may be wanted. */
  mayHaveWanted(folder: string): boolean
}

interface Pattern {
  readonly isWanted: boolean
  readonly text: string
  readonly expression: RegExp
}

/** Read patterns, one a line. Those files in `wanted` are needed in any case. */
export function readIgnored(text: string, wanted: readonly string[]): Ignored {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const given = [
    ...lines.filter((line) => line && !line.startsWith('#')),
    ...wanted.map((path) => `!${path}`),
  ]
  const patterns = given.map(patternOf).filter(({ text }) => text !== '')
  const rescues = patterns.filter(({ isWanted }) => isWanted)
  return {
    has: (path) => {
      const parts = path.split('/')
      const paths = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
      const matches = ({ expression }: Pattern) => paths.some((one) => expression.test(one))
      const last = patterns.findLast(matches)
      return last !== undefined && !last.isWanted
    },
    mayHaveWanted: (folder) =>
      rescues.some(({ text }) => text.startsWith(`${folder}/`) || /[*?[]/.test(text)),
  }
}

function patternOf(line: string): Pattern {
  const isWanted = line.startsWith('!')
  const parts: string[] = []
  for (const part of (isWanted ? line.slice(1).trim() : line).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const text = parts.join('/')
  return { isWanted, text, expression: expressionOf(text) }
}

const TOKEN = /(\*\*\/?)|(\*)|(\?)|(\[\^?(?:\\.|[^\]\\])+\])|\\(.)|([\s\S])/g
const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Translate a pattern: `*` is within one name, `**` any folders. */
function expressionOf(text: string): RegExp {
  const source = text.replace(TOKEN, (_, deep, star, one, set, escaped, plain) => {
    if (deep) return deep === '**' ? '.*' : '(?:.*/)?'
    if (star) return '[^/]*'
    if (one) return '[^/]'
    return set ?? literal(escaped ?? plain)
  })
  return new RegExp(`^${source}$`, 's')
}
