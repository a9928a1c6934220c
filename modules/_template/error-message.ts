import {
  CalledFunctionError,
  type TemplateError,
  TemplateSyntaxError,
  UndefinedError,
} from '../_jinja/index.ts'

/** Say what is wrong as Salt does: with the lines around. */
export function errorMessage(error: TemplateError, source: string): string {
  const { line, template } = error
  const said = `${kindOf(error)}${error.message}`
  if (line === undefined) return said
  if (template !== undefined) return `${said}; line ${line} of ${template}`
  return `${said}; line ${line}\n\n${linesAround(source, line)}`
}

function kindOf(error: TemplateError): string {
  if (error instanceof UndefinedError) return 'Jinja variable '
  if (error instanceof TemplateSyntaxError) return 'Jinja syntax error: '
  if (error instanceof CalledFunctionError) return 'Problem running salt function in Jinja template: '
  return 'Jinja error: '
}

const LINES_AROUND = 5

function linesAround(source: string, line: number): string {
  const lines = source.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const start = Math.max(line - LINES_AROUND - 1, 0)
  const end = Math.min(line + LINES_AROUND, lines.length)
  const shown = lines.slice(start, end)
  shown[line - start - 1] += '    <======================'
  const parts = [...(start > 0 ? ['[...]'] : []), ...shown, ...(end < lines.length ? ['[...]'] : [])]
  return `---\n${parts.join('\n')}\n---`
}
