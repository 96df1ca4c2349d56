import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";

/** Profiles the CPU use of this process. */
export interface Profiler {
  start(): Promise<void>;
  /** For the developer tools of Chrome, or any other reader of .cpuprofile. */
  write(file: string): Promise<void>;
}

export function createProfiler(): Profiler {
  const session = new Session();
  return {
    async start() {
      session.connect();
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
    },
    async write(file) {
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      await writeFile(file, JSON.stringify(profile));
    },
  };
}
