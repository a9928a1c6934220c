/** Entry for `node --import`: what a test imports is found and compiled as what the loader imports is. */
import { register } from 'tsx/esm/api'
import { installResolveHook } from '../../loader/resolve-hook.ts'

installResolveHook({ everyFile: true })
register({ tsconfig: false })
