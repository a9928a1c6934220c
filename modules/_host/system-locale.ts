import { CommandExecutionError, type Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { rewrite, textOf } from './files.ts'
import { run } from './programs.ts'

/** Read the settings under `System Locale` in the output of localectl, one a line. */
export function readLocale(text: string): Map<string, string> {
  const [, block = ''] = /System Locale:(.*(?:\n\s+[A-Z_]+=.*)*)/.exec(text) ?? []
  return new Map([...block.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]))
}

/** Set the locale in a file that is read where systemd does not run. */
export async function setLocaleInFile(locale: string, context: Context, file: string): Promise<true> {
  if (context.grains.os_family === 'Debian') {
    if ((await which('update-locale')) === null)
      throw new CommandExecutionError('Cannot set locale: "update-locale" was not found.')
    await run(['update-locale'], context)
  }
  await rewrite(file, withLang((await textOf(file)) ?? '', locale))
  return true
}

/** Replace the line of LANG, or add one. */
function withLang(text: string, locale: string): string {
  const line = `LANG="${locale}"`
  if (/^LANG=.*/m.test(text)) return text.replace(/^LANG=.*/gm, () => line)
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
}
