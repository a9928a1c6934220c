/** Read the settings under `System Locale` in the output of localectl, one a line. */
export function readLocale(text: string): Map<string, string> {
  const [, block = ''] = /System Locale:(.*(?:\n\s+[A-Z_]+=.*)*)/.exec(text) ?? []
  return new Map([...block.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]))
}
