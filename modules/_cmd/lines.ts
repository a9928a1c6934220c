/** Split the output of a program into lines; none if it is empty. */
export const linesOf = (output: string): string[] => (output === '' ? [] : output.split(/\r?\n/))
