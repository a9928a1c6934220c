/** Lists of maps (or of lists) as tables. Options `out.table.*` of Salt, without the prefix. */
import { outputter } from 'salt-ts'
import { table } from './_table.ts'

export default outputter({ render: (value, options) => table(value, options) })
