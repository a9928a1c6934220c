/** Nothing at all. */
import { outputter } from 'salt-ts'

export default outputter({ render: () => '' })
