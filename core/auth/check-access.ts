import { SaltError } from '../base/errors.ts'
import { type AccessConfig, AccessRules } from './access-rules.ts'

/**
 * Read the options of who may do what, when a master starts. Gives sentences about rules that allow nothing because they
 * make no sense. @throws SaltError CONFIG_INVALID if it cannot be said what some are meant to allow
 */
export function checkAccess(config: AccessConfig & { readonly conf_file: string }): string[] {
  const { problems } = new AccessRules(config)
  const unreadable = problems.filter(({ kind }) => kind === 'unreadable').map(({ sentence }) => sentence)
  if (unreadable.length > 0) {
    const all = unreadable.join(' ')
    throw new SaltError(
      'CONFIG_INVALID',
      `${all} Correct it in ${config.conf_file} or where else it is set.`,
      {
        key: 'external_auth',
      },
    )
  }
  return problems.map(({ sentence }) => sentence)
}
