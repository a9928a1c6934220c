/** Calls the function in this process, with nothing added. */
import { executor } from 'salt-ts'

export default executor({ execute: (call) => call.run() })
