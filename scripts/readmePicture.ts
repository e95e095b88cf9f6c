// Makes docs/example.png: two shipped stacks as nearest plane, farthest plane, all-in-focus image and depth, by `dualfocus depth`.
// node --import tsx scripts/readmePicture.ts
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";

const [width, height, gap] = [320, 240, 6];

async function row(name: string): Promise<Buffer[]> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-"));
  try {
    const output = join(folder, name);
    const command = ["--import", "tsx", "src/cli/main.ts", "depth", join("examples", name), "-o", output, "--save", "color,aif", "--quiet"];
    execFileSync(process.execPath, command, { stdio: "inherit" });
    const planes = (await readdir(join("examples", name))).filter((file) => file.startsWith("plane_")).sort();
    const files = [
      join("examples", name, planes[0] as string),
      join("examples", name, planes.at(-1) as string),
      join(output, "aif.png"),
      join(output, "color.png"),
    ];
    return await Promise.all(files.map((file) => sharp(file).resize(width, height, { fit: "cover", position: "top" }).png().toBuffer()));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const rows = [await row("breathing"), await row("macro")];
const pictures = rows.flatMap((pictures, y) => pictures.map((input, x) => ({ input, left: x * (width + gap), top: y * (height + gap) })));
await sharp({ create: { width: 4 * width + 3 * gap, height: 2 * height + gap, channels: 3, background: "white" } })
  .composite(pictures)
  .png({ compressionLevel: 9, palette: true, colours: 200 })
  .toFile("docs/example.png");
