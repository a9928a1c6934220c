import { createRequire } from 'node:module'

/**
 * Load the YAML library on first use, which takes 30 ms. A bundle is CommonJS, has a `require`, and contains the library.
 */
export const yamlLibrary = (): typeof import('yaml') =>
  typeof require === 'function' ? require('yaml') : createRequire(import.meta.url)('yaml')
