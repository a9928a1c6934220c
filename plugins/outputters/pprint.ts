/** The layout of Python's `pprint`. `--out-indent`: spaces per level. */
import { outputter } from 'salt-ts'
import { pformat } from './_pprint.ts'
import { rstrip } from './_python.ts'

export default outputter({
  render: (value, { indent }) =>
    rstrip(pformat(value, typeof indent === 'number' && indent >= 0 ? indent : 1)),
})
