import { p } from 'salt-ts'

/**
 * A text where Salt refuses other values: `5`, `true` and lists are not made into text. On a command line, quotes within the word
 * make it text: `'"5"'`.
 */
export const textOnly = (description = 'A text; numbers and lists are refused.') =>
  p.refine(
    p.any({ description }),
    (value) => typeof value === 'string',
    'must be text, in quotes of its own if it looks like another value',
  ) as ReturnType<typeof p.string>
