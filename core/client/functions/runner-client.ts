import { FunctionClient, type RunnerClientSettings } from './function-client.ts'

/** Runs runner functions (`salt-run`). */
export class RunnerClient extends FunctionClient {
  constructor(settings: RunnerClientSettings) {
    super('runner', settings)
  }
}
