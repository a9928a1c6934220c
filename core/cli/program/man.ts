/** Renders man pages from the program classes. */
import { exitTable } from '../exit-codes.ts'
import { optionGroups } from './help.ts'
import type { Program } from './program.ts'
import { programNames } from './program-names.ts'
import type { Flag } from './typed-options.ts'
import { version } from './version.ts'

export function manPage(program: Program): string {
  const { id, description = '', usage = id, examples = [] } = program
  const groups = [...optionGroups(program)].flatMap(([title, flags]) => [
    `.SS ${title === 'OPTIONS' ? 'General' : capitalised(title)}`,
    ...flags.flatMap(optionLines),
  ])
  const lines = [
    `.TH ${id.toUpperCase().replaceAll('-', '\\-')} 1 "" "salt-ts ${version()}" "Salt"`,
    '.SH NAME',
    `${text(id)} \\- ${text(uncapitalised(description).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.nf',
    ...String(usage)
      .split('\n')
      .map((line) => text(line)),
    '.fi',
    '.SH DESCRIPTION',
    text(description),
    '.SH OPTIONS',
    ...groups,
    '.SH EXAMPLES',
    '.nf',
    ...examples.map((example) => text(String(example))),
    '.fi',
    '.SH EXIT STATUS',
    ...Object.values(exitTable).flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, text(meaning)]),
    '.PP',
    text('The option salt_exit_codes: legacy of the configuration gives the exit codes of Salt.'),
    '.SH FILES',
    ...['/etc/salt/master', '/etc/salt/minion', '~/.salt/Saltfile'].flatMap((path) => ['.br', text(path)]),
    '.SH SEE ALSO',
    programNames()
      .filter((name) => name !== id)
      .map((name) => `${text(name)}(1)`)
      .join(', '),
  ]
  return `${lines.join('\n')}\n`
}

function optionLines([name, { type, char, aliases = [], description = '', options }]: Flag): string[] {
  const value = type === 'boolean' ? '' : ' <value>'
  const spelled = [...(char ? [`-${char}`] : []), ...[name, ...aliases].map((each) => `--${each}`)]
  const choice = options ? ` One of: ${options.join(', ')}.` : ''
  return ['.TP', `.B ${text(spelled.join(', ') + value)}`, text(description + choice)]
}

/** Escape characters that roff interprets, or would replace by typographic ones. */
function text(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga')
    .replaceAll('…', '...')
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}

const uncapitalised = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)
const capitalised = (title: string) => title.charAt(0) + title.slice(1).toLowerCase()
