/** The value as Python would print it. */
import { outputter } from 'salt-ts'
import { rstrip, strOf } from './_python.ts'

export default outputter({ render: (value) => rstrip(strOf(value)) })
