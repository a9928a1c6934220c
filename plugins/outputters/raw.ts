/** The value as Python would print it. */
import { outputter } from 'salt-ts'
import { strOf } from './_python.ts'

export default outputter({ render: (value) => strOf(value) })
