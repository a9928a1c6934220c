/** Show and set the locale of the host. */

import { readdir } from 'node:fs/promises'
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { rewrite, textOf } from './_host/files.ts'
import { type LocaleName, parseLocale, withLocale } from './_host/locale-gen.ts'
import { outputLines, run } from './_host/programs.ts'
import { readLocale, setLocaleInFile } from './_host/system-locale.ts'
import { isBooted } from './_systemd/booted.ts'
import { textOnly } from './_values/text-only.ts'

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
  if (await isBooted(context)) return (await systemLocale(context)).get('LANG') ?? ''
  const line = ((await textOf(localeFile(context))) ?? '')
    .split('\n')
    .find((line) => line.startsWith('LANG='))
  return (line ?? '').slice('LANG='.length).replaceAll('"', '')
})

/**
 * Set the locale of the host: by localectl where systemd runs, and in the file of the system elsewhere.
 *
 * @example salt '*' locale.set_locale 'en_US.UTF-8'
 */
export const set_locale = fn({ locale }, async ({ locale }, context) => {
  if (!(await isBooted(context))) return setLocaleInFile(locale, context, localeFile(context))
  const settings = (await systemLocale(context)).set('LANG', locale)
  const words = [...settings].map(([name, value]) => `${name}=${value}`)
  return (await run(['localectl', 'set-locale', ...words], context)).retcode === 0
})

/**
 * True if the host has a locale, however its character set is written.
 *
 * @example salt '*' locale.avail 'en_US.UTF-8'
 */
export const avail = fn({ locale: textOnly() }, async ({ locale }, context) => {
  const found = await outputLines(['locale', '-a'], context)
  return found.some((one) => normalized(one.trim()) === normalized(locale))
})

/**
 * Generate a locale that the host can have. True if it was generated, or with `verbose` what `cmd.run_all` returns; false for a
 * locale that does not exist.
 *
 * @example salt '*' locale.gen_locale en_US.UTF-8
 * @example salt '*' locale.gen_locale 'en_IE.UTF-8 UTF-8'
 */
export const gen_locale = fn(
  { locale: p.string(), verbose: p.default(p.boolean(), false) },
  async ({ locale: given, verbose }, context) => {
    const wanted = parseLocale(given)
    if (wanted === undefined) return false
    const isUbuntu = context.grains.os === 'Ubuntu'
    const locale = isUbuntu || wanted.charmap !== undefined ? given : `${given} ${wanted.codeset}`
    if (!(await isSupported(locale, wanted, context.grains))) return false
    const known = await textOf(LOCALE_GEN)
    if (known !== undefined) await rewrite(LOCALE_GEN, withLocale(known, locale))
    const result = await run(await generator(locale, wanted, context.grains), context)
    return verbose ? result : result.retcode === 0
  },
)

const LOCALE_GEN = '/etc/locale.gen'

/** Whether the host has what is needed to generate the locale. */
async function isSupported(
  locale: string,
  { place }: LocaleName,
  grains: Context['grains'],
): Promise<boolean> {
  if (grains.os === 'Debian' || grains.os_family === 'Gentoo')
    return ((await textOf('/usr/share/i18n/SUPPORTED')) ?? '').split('\n').includes(locale)
  const folder = grains.os_family === 'Suse' ? '/usr/share/locale' : '/usr/share/i18n/locales'
  const names = await readdir(folder).catch(() => {
    throw new CommandExecutionError(`Locale "${locale}" is not available.`)
  })
  return names.includes(place)
}

/** Return the command that generates the locale. */
async function generator(
  locale: string,
  { place, codeset }: LocaleName,
  grains: Context['grains'],
): Promise<string[]> {
  if ((await which('locale-gen')) !== null) {
    if (grains.os_family === 'Gentoo') return ['locale-gen', '--generate', locale]
    return ['locale-gen', grains.os === 'Ubuntu' ? normalized(locale) : locale]
  }
  if ((await which('localedef')) !== null)
    return ['localedef', '--force', '-i', place, '-f', codeset, `${place}.${codeset}`, '--quiet']
  throw new CommandExecutionError('Command "locale-gen" or "localedef" was not found on this system.')
}

const localeFile = ({ grains }: Context): string =>
  grains.os_family === 'RedHat' ? '/etc/sysconfig/i18n' : '/etc/default/locale'

async function systemLocale(context: Context): Promise<Map<string, string>> {
  if ((await which('localectl')) === null) throw new CommandExecutionError('Unable to find "localectl"')
  const { retcode, stdout, stderr } = await run(['localectl', 'status'], context)
  if (retcode !== 0) throw new CommandExecutionError(`localectl failed: ${stderr}`)
  return readLocale(stdout)
}

/** Write a locale as `locale -a` does: `en_US.utf8`. */
function normalized(locale: string): string {
  const [, language = '', territory = '', codeset = '', modifier = ''] =
    /^([^_.@\s]*)(_[^.@\s]*)?(\.[^@\s]*)?(@\S*)?/.exec(locale) ?? []
  return language + territory.toUpperCase() + codeset.toLowerCase().replaceAll('-', '') + modifier
}
