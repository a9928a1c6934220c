/** Show and set the locale of the host. */
import { stat } from 'node:fs/promises'
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { textOf } from './_host/files.ts'
import { outputLines, run } from './_host/programs.ts'

export const virtualName = 'locale'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The locale module knows only the programs of Linux'

const locale = p.string({ pattern: '^[A-Za-z]' })

/**
 * List the locales that the host has.
 *
 * @example salt '*' locale.list_avail
 */
export const list_avail = fn((_, context) => outputLines(['locale', '-a'], context))

/**
 * Return the locale of the host; an empty text if none is set.
 *
 * @example salt '*' locale.get_locale
 */
export const get_locale = fn(async (_, context) => {
  if (await isSystemd()) return (await systemLocale(context)).get('LANG') ?? ''
  const file = context.grains.os_family === 'RedHat' ? '/etc/sysconfig/i18n' : '/etc/default/locale'
  const line = ((await textOf(file)) ?? '').split('\n').find((line) => line.startsWith('LANG='))
  return (line ?? '').slice('LANG='.length).replaceAll('"', '')
})

/**
 * Set the locale of the host. Needs localectl.
 *
 * @example salt '*' locale.set_locale 'en_US.UTF-8'
 */
export const set_locale = fn({ locale }, async ({ locale }, context) => {
  const settings = (await systemLocale(context)).set('LANG', locale)
  const words = [...settings].map(([name, value]) => `${name}=${value}`)
  return (await run(['localectl', 'set-locale', ...words], context)).retcode === 0
})

/**
 * True if the host has a locale, however its character set is written.
 *
 * @example salt '*' locale.avail 'en_US.UTF-8'
 */
export const avail = fn({ locale }, async ({ locale }, context) => {
  const found = await outputLines(['locale', '-a'], context)
  return found.some((one) => normalized(one.trim()) === normalized(locale))
})

const isSystemd = (): Promise<boolean> =>
  stat('/run/systemd/system').then(
    () => true,
    () => false,
  )

async function systemLocale(context: Context): Promise<Map<string, string>> {
  if ((await which('localectl')) === null) throw new CommandExecutionError('Unable to find "localectl"')
  const { retcode, stdout, stderr } = await run(['localectl', 'status'], context)
  if (retcode !== 0) throw new CommandExecutionError(`localectl failed: ${stderr}`)
  return readLocale(stdout)
}

/** Read the settings under `System Locale` in the output of localectl, one a line. */
export function readLocale(text: string): Map<string, string> {
  const [, block = ''] = /System Locale:(.*(?:\n\s+[A-Z_]+=.*)*)/.exec(text) ?? []
  return new Map([...block.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]))
}

/** Write a locale as `locale -a` does: `en_US.utf8`. */
function normalized(locale: string): string {
  const [, language = '', territory = '', codeset = '', modifier = ''] =
    /^([^_.@\s]*)(_[^.@\s]*)?(\.[^@\s]*)?(@\S*)?/.exec(locale) ?? []
  return language + territory.toUpperCase() + codeset.toLowerCase().replaceAll('-', '') + modifier
}
