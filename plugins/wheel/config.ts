/** The configuration of the master. Changes take effect at its next start. */
import { fn, p } from 'salt-ts'
import { masked } from '../../modules/_config/mask.ts'

/** The file that {@link apply} writes. Later files win, and its name sorts last. */
const APPLIED = 'zz_wheel'

/**
 * All options. Passwords, tokens and the like are masked.
 *
 * @example salt-run wheel config.values
 */
export const values = fn((_, { opts }) => masked(opts))

/**
 * Set one option in `master.d/zz_wheel.conf`; other files stay unchanged. A value that would keep the master from starting is
 * refused. Returns the path.
 *
 * @example salt-run wheel config.apply keep_jobs_seconds 3600
 */
export const apply = fn(
  { key: p.string({ pattern: '^\\w[\\w.-]*$' }), value: p.any() },
  ({ key, value }, { master }) => master.writeConfig(APPLIED, { [key]: value }, { keep: true }),
)

/**
 * Write options to `master.d/<file_name>.conf`, replacing its contents.
 *
 * @example salt-run wheel config.update_config gui '{timeout: 10}'
 */
export const update_config = fn(
  { file_name: p.string({ minLength: 1 }), yaml_contents: p.record(p.any()) },
  async ({ file_name, yaml_contents }, { master }) => {
    await master.writeConfig(file_name, yaml_contents)
    return `Wrote ${file_name}.conf`
  },
)
