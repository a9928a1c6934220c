import path from 'node:path'
import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { create } from '../authoring/create.ts'
import { runTests } from '../authoring/run-tests.ts'
import { templateWords } from '../authoring/templates.ts'
import { writeTypes } from '../authoring/write-types.ts'
import { shells } from '../completion/scripts.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { helpFlags } from '../flags.ts'
import { wordsFrom } from '../words-stdin.ts'

/** What was done, for people; it is the data of this program. */
function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return exitCodes.ok
}

export default class SaltTs extends Command {
  static override id = 'salt-ts'
  static override strict = false
  static override description =
    'For authors of modules and other extensions: begin one, run its tests, write the types of call(). For shells: completion.'
  static override usage = [
    'salt-ts create KIND NAME [--dir DIR]',
    `    a file, a test and what TypeScript needs; KIND is ${templateWords.join(', ')}`,
    '       salt-ts test [FOLDER] [--watch]',
    '    run the tests (*.test.ts) below a folder; nothing else needs to be installed',
    '       salt-ts types [FOLDER]',
    '    write _catalogue.d.ts, by which call() knows the functions of a folder of modules',
    '       salt-ts completion bash|zsh|fish',
    '    print what makes that shell complete all programs: eval "$(salt-ts completion bash)"',
  ].join('\n')
  static override examples = ['salt-ts create module hello', 'salt-ts test', 'salt-ts types modules']
  static override flags = {
    dir: string({ description: 'create: the folder to put it into (default: this one).' }),
    watch: boolean({ description: 'test: run the tests again when a file is saved.' }),
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltTs)
    const [command, ...words] = await wordsFrom(raw, false)
    const folder = () => path.resolve(atMost(1, command, words)[0] ?? '.')
    switch (command) {
      case 'create': {
        const [kind, name] = atMost(2, command, words)
        if (kind === undefined || name === undefined)
          throw new UsageError('Say what to create, and its name: salt-ts create module hello')
        return say(await create({ kind, name, directory: path.resolve(flags.dir ?? '.') }))
      }
      case 'test':
        return runTests(folder(), { watch: flags.watch })
      case 'types':
        return say(await writeTypes(folder()))
      case 'completion':
        return say(completionScript(atMost(1, command, words)[0]))
      case undefined:
        throw new UsageError('Say what to do: create, test, types or completion.')
      default:
        throw new UsageError(
          `There is no command '${command}'. Commands are: create, test, types, completion.`,
        )
    }
  }
}

function atMost(count: number, command: string | undefined, words: readonly string[]): readonly string[] {
  if (words.length > count) throw new UsageError(`'${words[count]}' is too much for salt-ts ${command}.`)
  return words
}

const PROGRAMS = [
  'salt',
  'salt-api',
  'salt-call',
  'salt-key',
  'salt-master',
  'salt-minion',
  'salt-run',
  'salt-ts',
]

function completionScript(shell: string | undefined): string {
  const script = shells[shell ?? '']
  if (script) return script(PROGRAMS).trimEnd()
  throw new UsageError(`Say for which shell: ${Object.keys(shells).join(', ')}.`)
}
