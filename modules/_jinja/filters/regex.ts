/** The filters that Salt adds for patterns. */
import { fnmatch } from '#internal'
import { Tuple } from '../../_values/tuple.ts'
import type { Filter } from '../environment.ts'
import { asTemplateError } from '../errors.ts'
import { bind, REQUIRED } from '../values/arguments.ts'
import type { CallArguments } from '../values/objects.ts'
import { searchWith } from '../values/regex.ts'
import { elements } from '../values/sequences.ts'
import { strictText, text } from '../values/text.ts'
import { onText } from './on-text.ts'

export const regexFilters: Readonly<Record<string, Filter>> = {
  regex_escape: onText((shown) => shown.replaceAll(/[\s\\^$.*+?()[\]{}|\-&~#]/g, '\\$&')),
  regex_search: (value, given) => groups(value, given, false),
  regex_match: (value, given) => groups(value, given, true),
  regex_replace(value, given) {
    const { val, ...pattern } = bind(
      { rgx: REQUIRED, val: REQUIRED, ignorecase: false, multiline: false },
      given,
    )
    return searchWith(pattern, (search) => search.replace(strictText(value), strictText(val)).text)
  },
  check_whitelist_blacklist: isOnLists,
}

function groups(value: unknown, given: CallArguments, atStart: boolean): unknown {
  const pattern = bind({ rgx: REQUIRED, ignorecase: false, multiline: false }, given)
  const found = searchWith(pattern, (search) => search.groups(strictText(value), { atStart }))
  return found ? Tuple.from(found) : null
}

/** Whether a text matches a pattern of the white list, if there is one, and none of the black list. */
function isOnLists(value: unknown, given: CallArguments): boolean {
  const { whitelist, blacklist } = bind({ whitelist: null, blacklist: null }, given)
  const patterns = (list: unknown) =>
    typeof list === 'string' ? [list] : list === null ? [] : elements(list)
  const matches = (list: unknown) =>
    patterns(list).some((pattern) => asTemplateError(() => fnmatch(strictText(value), text(pattern))))
  return !matches(blacklist) && (patterns(whitelist).length === 0 || matches(whitelist))
}
