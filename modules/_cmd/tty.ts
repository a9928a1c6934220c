import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Write a text to a terminal. Returns Salt's map: `Success` or `Error`, with a message. */
export async function echoTo(device: string, text: string): Promise<{ Success: string } | { Error: string }> {
  const name = /^(?:tty\w*|pts\/?\d+)$/.test(device) ? device.replace(/^pts\/?/, 'pts/') : undefined
  if (name === undefined) return { Error: 'The specified device is not a valid TTY' }
  const path = `/dev/${name}`
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
    await file.writeFile(text).finally(() => file.close())
    return { Success: `Message was successfully echoed to ${path}` }
  } catch {
    return { Error: `Echoing to ${path} returned error` }
  }
}
