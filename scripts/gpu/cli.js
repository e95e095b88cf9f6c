// `dualfocus train` alone, for a machine without npm: nothing here needs an image decoder or ONNX Runtime.
import { Command } from "commander";

import { trainCommand } from "../../src/cli/train.ts";

await new Command("dualfocus")
  .addCommand(trainCommand())
  .parseAsync()
  .catch((error) => {
    console.error(process.env.DUALFOCUS_DEBUG ? error : `dualfocus: ${error.message}`);
    process.exitCode = error.exitCode ?? 1;
  });
