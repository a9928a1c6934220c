/** Indented and coloured, with sorted keys. The default. */
import { outputter } from 'salt-ts'
import { nested } from './_nested.ts'

export default outputter({ render: (value, options) => nested(value, options) })
