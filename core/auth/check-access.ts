import { SaltError } from '../base/errors.ts'
import { type AccessConfig, AccessRules } from './access-rules.ts'

/**
 * Check the access rules when a master starts. Returns sentences about rules that allow nothing because they are invalid.
 * @throws SaltError CONFIG_INVALID for rules whose intent cannot be determined
 */
export function checkAccess(config: AccessConfig & { readonly conf_file: string }): string[] {
  const { problems } = new AccessRules(config)
  const unreadable = problems.filter(({ kind }) => kind === 'unreadable').map(({ sentence }) => sentence)
  if (unreadable.length > 0) {
    const all = unreadable.join(' ')
    throw new SaltError(
      'CONFIG_INVALID',
      `${all} Correct it in ${config.conf_file} or wherever else it is set.`,
      {
        key: 'external_auth',
      },
    )
  }
  return problems.map(({ sentence }) => sentence)
}
