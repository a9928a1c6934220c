import { string as word } from '@oclif/core/args'

/** It is not read from standard input, which oclif would do, but which may have lines for the command. */
export const folder = word({ description: 'Folder (default: the current one).', ignoreStdin: true })
