import { describe, expect, it } from "vitest";
import { type Program, startProgram } from "../src/processes/program.js";

function startScript(script: string, hasChannel = false): Program {
  const args = ["--input-type=module", "-e", script];
  return startProgram({ name: "The script", args, environment: { WORD: "hello" }, hasChannel });
}

const idle = "setInterval(() => {}, 1000);";

describe("a child process", () => {
  it("keeps the lines of both streams", async () => {
    await using program = startScript("console.log(process.env.WORD); console.error('no\\nand'); process.exitCode = 3");
    expect(await program.ended).toBe(3);
    expect([...program.output].sort()).toEqual(["and", "hello", "no"]);
    expect(program.errorOutput).toEqual(["no", "and"]);
    expect(program.hasEnded()).toBe(true);
  });

  it("receives nothing from the environment of this process", async () => {
    await using program = startScript("console.log(Object.keys(process.env).join())");
    await program.ended;
    expect(program.output).toEqual(["WORD"]);
  });

  it("is ready when its output matches, even if it has ended since", async () => {
    await using program = startScript("console.log('ready at 4000')");
    await program.ended;
    expect((await program.printed(/ready at (\d+)/))[1]).toBe("4000");
  });

  it("rejects with the output when the process ends before it is ready", async () => {
    await using program = startScript("console.error('no database')");
    await expect(program.printed(/ready/)).rejects.toThrow("The script has ended: no database");
  });

  it("rejects when the process is not ready in time", async () => {
    await using program = startScript(idle);
    await expect(program.until(() => false, 30)).rejects.toThrow("not ready after 0.03 s: it printed nothing");
  });

  it("answers one message after the other, and rejects when the process ends", async () => {
    const script = "process.on('message', (n) => n === 3 ? process.exit() : process.send(n * 2)); console.log('ready')";
    await using program = startScript(script, true);
    await program.printed(/ready/);
    expect([await program.ask(1), await program.ask(2)]).toEqual([2, 4]);
    await expect(program.ask(3)).rejects.toThrow("The script has ended");
    await expect(program.ask(1)).rejects.toThrow("The script has ended");
  });

  it("ends by SIGTERM when it is stopped, and by SIGKILL when it is killed", async () => {
    const stopped = startScript(`${idle} process.on('SIGTERM', () => process.exit(0)); console.log('ready')`);
    const killed = startScript(`${idle} process.on('SIGTERM', () => {}); console.log('ready')`);
    await Promise.all([stopped.printed(/ready/), killed.printed(/ready/)]);
    expect(await Promise.all([stopped.stop(), stopped.stop(), killed.kill()])).toEqual([0, 0, "SIGKILL"]);
  });

  it("reports a program that is not installed", async () => {
    await using program = startProgram({ name: "It", command: "no-such-program", args: [], environment: {} });
    expect(await program.ended).toBe(127);
    await expect(program.printed(/ready/)).rejects.toThrow("ENOENT");
  });
});
