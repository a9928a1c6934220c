import { closest } from '../../base/closest.ts'
import { messageOf } from '../../base/errors.ts'
import { LACKS_VALUE } from '../exit-codes.ts'
import type { Program } from './program.ts'
import { flagsOf } from './typed-options.ts'

/** Return a sentence about an error of oclif's parser, with the options that were most likely intended. */
export function usageSentence(program: Program, error: unknown): string {
  const [said = ''] = messageOf(error)
    .replace(/^Parsing --\S+ \n\t/, '')
    .split('\nSee more help')
  const unknown = /^Nonexistent flags?: (.*)$/.exec(said)?.[1]?.split(', ')
  if (!unknown)
    return said
      .replace(/^Unexpected arguments?: (.*)$/, "Unexpected argument: '$1'.")
      .replace(LACKS_VALUE, 'The option $1 needs $2.')
  return unknown.map((flag) => `There is no option ${flag}${suggestion(program, flag) || '.'}`).join(' ')
}

function suggestion(program: Program, flag: string): string {
  const typed = flag.replace(/^-+/, '')
  const names = flagsOf(program).flatMap(([name, { aliases = [] }]) => [name, ...aliases])
  if (typed.length < 2) return ''
  const started = names.filter((name) => name.startsWith(typed))
  const name = started.length > 0 ? started : [closest(typed, names)]
  return name[0] === undefined ? '' : `; did you mean ${name.map((each) => `--${each}`).join(' or ')}?`
}
