import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether } from "../processes/resources.js";

/** A certificate of 127.0.0.1 that signs itself. Disposing removes its file. Needs openssl. */
interface Certificate extends AsyncDisposable {
  /** For clients: the file is the authority of the certificate. */
  readonly file: string;
  /** As PEM. */
  readonly cert: string;
  readonly key: string;
}

export function makeCertificate({ days }: { readonly days: number }): Promise<Certificate> {
  return openTogether(async (use) => {
    const { path } = use(await openTemporaryDirectory());
    const [file, keyFile] = [join(path, "certificate.pem"), join(path, "key.pem")];
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -subj /CN=localhost`;
    const names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", file, "-keyout", keyFile];
    await using program = startProgram({ name: "openssl", command: "openssl", args: [...words.split(" "), ...names] });
    if ((await program.ended) !== 0) throw new Error(program.output.join("\n"));
    return { file, cert: await readFile(file, "utf8"), key: await readFile(keyFile, "utf8") };
  });
}
