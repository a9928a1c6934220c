/** Indented and coloured, for people: the default. Keys are sorted. */
import { outputter } from 'salt-ts'
import { nested } from './_nested.ts'

export default outputter({ render: (value, options) => nested(value, options) })
