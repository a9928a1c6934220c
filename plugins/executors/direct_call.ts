/** Calls the function as it is. */
import { executor } from 'salt-ts'

export default executor({ execute: (call) => call.run() })
