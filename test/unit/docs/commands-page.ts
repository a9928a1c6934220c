/** docs/commands.md: every program with its options, from the command classes. */
import { exitTable } from '../../../core/cli/exit-codes.ts'
import { optionGroups } from '../../../core/cli/program/help.ts'
import type { Program } from '../../../core/cli/program/program.ts'
import type { Flag } from '../../../core/cli/program/typed-options.ts'
import { commands } from '../../../core/cli/salt-ts/commands.ts'
import { cellText, markdownTable } from '../../harness/markdown.ts'

export function commandsPage(programs: readonly Program[]): string {
  return `# Commands

Written by \`npm run docs\` from the programs themselves. [Command line](command-line.md) explains how to use them; the same is in
their man pages and in \`--help-all\`.

${programs.map(({ id }) => `- [${id}](#${id})`).join('\n')}
- [Exit codes](#exit-codes)

${programs.map(sectionOf).join('\n\n')}

## Exit codes

${markdownTable(
  ['code', 'when', 'why this number'],
  Object.values(exitTable).map(({ code, meaning, why }) => [`${code}`, cellText(meaning), cellText(why)]),
)}

\`salt_exit_codes: legacy\` in the configuration gives the exit codes of Salt.
`
}

function sectionOf(program: Program): string {
  const { id, description = '', usage = id, examples = [] } = program
  const groups = [...optionGroups(program)].map(([title, flags]) => {
    const rows = flags.map((flag) => [spelled(flag), described(flag)])
    return `### ${id}: ${title === 'OPTIONS' ? 'general' : title.toLowerCase()} options\n\n${markdownTable(['option', 'what it does'], rows)}`
  })
  const shown = examples.length === 0 ? [] : [`\`\`\`text\n${examples.join('\n')}\n\`\`\``]
  return [
    `## ${id}`,
    cellText(description),
    `\`\`\`text\n${String(usage)}\n\`\`\``,
    ...shown,
    ...(id === 'salt-ts' ? [subcommands()] : []),
    ...groups,
  ].join('\n\n')
}

function subcommands(): string {
  const rows = Object.entries(commands).map(([name, { description = '', usage }]) => [
    `\`salt-ts ${cellText(String(usage ?? `${name} [FOLDER]`))}\``,
    cellText(description),
  ])
  return markdownTable(['command', 'what it does'], rows)
}

function spelled([name, { type, char, aliases = [], helpValue }]: Flag): string {
  const value = type === 'boolean' ? '' : ` <${helpValue ?? 'value'}>`
  const forms = [...(char ? [`-${char}`] : []), ...[name, ...aliases].map((each) => `--${each}`)]
  return forms.map((form, at) => `\`${form}${at === forms.length - 1 ? value : ''}\``).join(', ')
}

function described([, { description = '', options }]: Flag): string {
  return cellText(description + (options ? ` One of: ${options.join(', ')}.` : ''))
}
