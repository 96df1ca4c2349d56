import { mkdir, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";

/** Writes a file, and beside it its compressed forms if they are shorter: `usage.html`, `usage.html.br` and `usage.html.gz`. */
export async function writeCompressedFile(file: URL, content: string | Buffer): Promise<void> {
  const bytes = Buffer.from(content);
  const [brotli, gzipped] = await Promise.all([promisify(brotliCompress)(bytes), promisify(gzip)(bytes, { level: 9 })]);
  await mkdir(new URL("./", file), { recursive: true });
  await writeFile(file, bytes);
  if (brotli.length < bytes.length) await writeFile(new URL(`${file}.br`), brotli);
  if (gzipped.length < bytes.length) await writeFile(new URL(`${file}.gz`), gzipped);
}
