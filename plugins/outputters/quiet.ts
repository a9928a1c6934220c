/** Prints nothing. */
import { outputter } from 'salt-ts'

export default outputter({ render: () => '' })
